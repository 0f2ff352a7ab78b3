#!/bin/sh
exec node_modules/.bin/claude -p "$(cat)" --model sonnet
