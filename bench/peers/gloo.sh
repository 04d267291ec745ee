#!/bin/sh
# gloo.sh times the ring all-reduce of gloo, the library under PyTorch's
# "gloo" backend, among processes of this host over TCP on loopback.
#
#   bench/peers/gloo.sh [-n RANKS] [-i ITERATIONS] [BYTES …]
#
# On Debian or Ubuntu it installs gloo and a C++ compiler if they are missing,
# and it is run by root. It compiles gloo_ring.cc into bin/peers.
set -eu

ranks=4 iterations=64
while getopts n:i: option; do
	case $option in
	n) ranks=$OPTARG ;;
	i) iterations=$OPTARG ;;
	*) echo "usage: gloo.sh [-n RANKS] [-i ITERATIONS] [BYTES …]" >&2; exit 64 ;;
	esac
done
shift $((OPTIND - 1))
[ $# -gt 0 ] || set -- 8388608

here=$(cd "$(dirname "$0")" && pwd)
program=$here/../../bin/peers/gloo_ring

install_gloo() {
	if [ -f /usr/include/gloo/allreduce.h ] && command -v g++ >/dev/null; then
		return
	fi
	if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
		echo "gloo.sh: gloo or g++ is missing, want: apt-get install libgloo-dev g++" >&2
		exit 1
	fi
	{
		apt-get update -qq
		DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends libgloo-dev g++
	} >&2
}

# Debian builds the library without AVX. The sum is a template that is compiled
# here, for this machine, which is gloo's best.
build() {
	if [ -n "$(find "$program" -newer "$here/gloo_ring.cc" 2>/dev/null)" ]; then
		return
	fi
	mkdir -p "${program%/*}"
	g++ -std=c++17 -O3 -march=native -Wall -Wno-sign-compare "$here/gloo_ring.cc" -o "$program" -lgloo -pthread
}

install_gloo
build
for bytes; do
	"$program" "$ranks" "$bytes" "$iterations"
done
