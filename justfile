# Recipes for developers. Users need none of them: go run and go test do.

# list the recipes
default:
    @just --list

# build the noema binary into bin/
build:
    go build -trimpath -o bin/noema ./kernel/cmd/noema

# run all tests, as the README says
test:
    go test ./...

# format, vet and lint
lint:
    gofmt -l .
    go vet ./...
    go tool staticcheck ./...

# run the concurrent packages under the race detector
race:
    go test -race ./cache/... ./plugins/... ./kernel/runner ./kernel/gateway ./kernel/record

# run every benchmark
bench:
    go test -run '^$' -bench . -benchmem ./...

# build the built-in methods as plugins of their own, into bin/plugins/
plugins:
    go build -trimpath -o bin/plugins/ ./plugins/anot ./plugins/cot ./plugins/direct

# generate code from the .proto files
proto:
    go run ./plugins/internal/wire/gen

# everything that must pass before a change lands
ci:
    bash .ci/run
