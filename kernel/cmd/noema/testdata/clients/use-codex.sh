#!/bin/sh
mkdir -p "$HOME/.codex"
printf 'model_provider = "noema"\nmodel = "gpt-5-codex"\n[model_providers.noema]\nname = "noema"\nbase_url = "%s/v1"\nenv_key = "OPENAI_API_KEY"\nwire_api = "responses"\n' "$NOEMA_URL" > "$HOME/.codex/config.toml"
exec node_modules/.bin/codex exec --skip-git-repo-check --sandbox danger-full-access "$(cat)"
