#!/bin/sh
printf '{"provider":{"noema":{"npm":"@ai-sdk/openai-compatible","options":{"baseURL":"%s/v1","apiKey":"x"},"models":{"m":{}}}},"model":"noema/m","small_model":"noema/m","autoupdate":false,"share":"disabled"}' "$NOEMA_URL" > opencode.json
exec node_modules/.bin/opencode run "$(cat)"
