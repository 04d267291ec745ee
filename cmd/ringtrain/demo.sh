#!/bin/sh
# Trains the job mnist on four ranks, as "ringtrain run -np 4 mnist" does, on MNIST
# where it is found, else on digits that ringtrain draws.
# usage: demo.sh BINARY FOLDER
set -eu
binary=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
folder=$2
from=$PWD

data=
for d in "${RINGTRAIN_DATA:-}" "$from" "$from/../shared/data" "${XDG_CACHE_HOME:-$HOME/.cache}/ringtrain/data"; do
	if [ -n "$d" ] && [ -f "$d/mnist/train-images-idx3-ubyte.gz" ]; then
		data=$(cd "$d" && pwd)
		break
	fi
done

rm -rf "$folder"
mkdir -p "$folder"
cd "$folder"
if [ -n "$data" ]; then
	echo "demo: training on MNIST in $data/mnist"
	set -- --data "$data"
else
	echo "demo: MNIST is not on this machine (ringtrain data fetch mnist would get it); training on drawn digits"
	set -- --set input.synthetic=true
fi

"$binary" run -np 4 mnist --set log.every=500 "$@"
echo "demo: the checkpoint again, evaluated by one process:"
"$binary" eval mnist --from ckpt/mnist "$@"
cat <<TEXT
demo: in $folder there are now
  ckpt/mnist      the checkpoint, in TensorFlow's format
  export/mnist/1  the bundle for TensorFlow Serving
What next, there:
  $binary inspect export/mnist                       what is in it
  $binary predict mnist --from export/mnist $*   scores for each record
  $binary init FILE.csv                                  a job file for records of your own
and docs/tutorial.md, or: $binary help docs/tutorial
TEXT
