#!/bin/sh
# Trains a small network of its own layers on a folder that has a folder of images for each
# class. The images are drawn digits here; any PNG or JPEG of any size will do.
set -eu
cd "$(dirname "$0")"
[ -d digits ] || {
	ringtrain data make digits --to data
	ringtrain data convert data/train-images-idx3-ubyte.gz --labels data/train-labels-idx1-ubyte.gz --to digits --to-format images
}
ringtrain run -np 2 job.yaml
ringtrain inspect ckpt
