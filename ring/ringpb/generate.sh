#!/bin/sh
# Generates the Go code of the protos in this folder, with the plugins that
# go.mod pins and the protoc of the machine.
set -e
plugins=$(mktemp -d)
trap 'rm -rf "$plugins"' EXIT
go build -o "$plugins/" google.golang.org/protobuf/cmd/protoc-gen-go google.golang.org/grpc/cmd/protoc-gen-go-grpc
protoc --plugin="$plugins/protoc-gen-go" --plugin="$plugins/protoc-gen-go-grpc" \
	--go_out=. --go_opt=paths=source_relative \
	--go-grpc_out=. --go-grpc_opt=paths=source_relative \
	./*.proto
