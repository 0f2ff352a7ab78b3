# Recipes for developers. Users need none of them: go run and go test do.

# list the recipes
default:
    @just --list

# build the noema binary into bin/, without what debuggers alone need
build:
    go build -tags queue -trimpath -ldflags='-s -w' -o bin/noema ./kernel/cmd/noema

# build the Python package, with the command in it, for each platform into dist/
wheels:
    go run ./plugins/python/wheels dist

# run all tests, as the README says
test:
    go test ./...

# fetch the language model of tests and experiments, 93 MB, into a cache folder
models:
    bash .ci/models

# format, vet and lint
lint:
    gofmt -l .
    go vet ./...
    go tool staticcheck ./...

# run the concurrent packages under the race detector
race:
    go test -race ./cache/... ./plugins/... ./kernel/lab ./kernel/run/runner ./kernel/run/gateway ./kernel/result/record

# run every benchmark
bench:
    go test -run '^$' -bench . -benchmem ./...

# build the example of a method as a plugin of its own, into bin/plugins/
plugins:
    go build -trimpath -o bin/plugins/ ./plugins/anot

# make the README's pictures anew, with a headless Chromium
pictures:
    NOEMA_PICTURES={{justfile_directory()}}/kernel/view/pictures go test ./kernel/view -run 'TestInABrowser$' -count 1
    cd kernel/view/pictures && rm -f runs.png run.png call.png sample-dark.png

# search a log of 2 GB beside grep
bench-logs:
    NOEMA_BENCH_MB=2048 go test ./kernel/task/logs -run '^$' -bench Grep -benchtime 2x

# generate code from the .proto files
proto:
    go test ./plugins/internal/wire -run Generated -count 1 -update

# write what cells know of compiled packages anew, after an exported name or its comment changed
symbols:
    go run ./kernel/session/cell/internal/symbols/gen

# everything that must pass before a change lands
ci:
    bash .ci/run
