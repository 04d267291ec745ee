#!/bin/sh
# Generates the Go code of the protos in this folder, with the plugins that go.mod pins and the
# protoc of the machine. The folder google has the well-known types that protoc may come without.
set -e
cd ../../..
plugins=$(mktemp -d)
trap 'rm -rf "$plugins"' EXIT
go build -o "$plugins/" google.golang.org/protobuf/cmd/protoc-gen-go google.golang.org/grpc/cmd/protoc-gen-go-grpc
protoc --plugin="$plugins/protoc-gen-go" --plugin="$plugins/protoc-gen-go-grpc" -I. -Iexport/serving/servingpb \
	--go_out=. --go_opt=module=ringtrain \
	--go-grpc_out=. --go-grpc_opt=module=ringtrain \
	export/serving/servingpb/*.proto
