#!/bin/sh
# Trains for one epoch, goes on with more ranks for another one, and writes an export of it.
set -eu
cd "$(dirname "$0")"
ringtrain run -np 2 mnist --set input.synthetic=true --set train.epochs=1
ringtrain run -np 4 mnist --set input.synthetic=true --set train.epochs=2
ringtrain inspect export/mnist
