#!/bin/sh
# compare.sh times ringtrain's and gloo's ring all-reduce on the same work, over
# TCP on loopback, in rounds that take turns, so that whatever else happens on
# the machine hits both. It prints the median of each over the rounds, and the
# ratio gloo/ringtrain: above 1, ringtrain is the faster one. Of gloo's ways to
# do it, the one with the best median counts.
#
#   bench/peers/compare.sh [-n RANKS] [-b BYTES] [-r ROUNDS] [-i ITERATIONS] [-p RINGTRAIN]
#
# RINGTRAIN is the program, by default bin/ringtrain (make build). gloo.sh says
# what gloo needs.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
ringtrain=$here/../../bin/ringtrain
ranks=4 bytes=8388608 rounds=5 iterations=64
while getopts n:b:r:i:p: option; do
	case $option in
	n) ranks=$OPTARG ;;
	b) bytes=$OPTARG ;;
	r) rounds=$OPTARG ;;
	i) iterations=$OPTARG ;;
	p) ringtrain=$OPTARG ;;
	*) echo "usage: compare.sh [-n RANKS] [-b BYTES] [-r ROUNDS] [-i ITERATIONS] [-p RINGTRAIN]" >&2; exit 64 ;;
	esac
done

if [ ! -x "$ringtrain" ]; then
	echo "compare.sh: $ringtrain is no program, want bin/ringtrain (make build) or -p RINGTRAIN" >&2
	exit 1
fi
figures=$(mktemp -d)
trap 'rm -rf "$figures"' EXIT
trap 'exit 1' HUP INT TERM

# Each prints lines of: name, microseconds, wrong elements.
run_ringtrain() {
	"$ringtrain" bench allreduce -np "$ranks" --link tcp --levels flat --json \
		--min "$bytes" --max "$bytes" --iters "$iterations" >"$figures/json"
	sed -n 's/.*"event":"bench".*"time_s":\([^,]*\),.*"wrong":\([0-9]*\).*/\1 \2/p' "$figures/json" |
		awk '{ printf "ringtrain %.1f %d\n", $1 * 1e6, $2 }'
}

run_gloo() {
	"$here/gloo.sh" -n "$ranks" -i "$iterations" "$bytes" >"$figures/gloo"
	awk '{ print "gloo:" $1, $4, $5 }' "$figures/gloo"
}

# report prints the table of all figures, then the medians and their ratio.
report() {
	sort -k1,1 -k2,2n "$figures/all" | awk -v rounds="$rounds" '
		$3 > 0   { printf "compare.sh: %s: %d elements are wrong\n", $1, $3 > "/dev/stderr"; bad = 1 }
		         { times[$1] = times[$1] sprintf(" %10.1f", $2); n[$1]++ }
		n[$1] == int((rounds + 1) / 2) { median[$1] = $2 }
		END {
			for (name in median) {
				if (n[name] != rounds) bad = 1
				printf "%-24s %10.1f   rounds, sorted:%s\n", name, median[name], times[name]
				if (name != "ringtrain" && (best == "" || median[name] < median[best])) best = name
			}
			if (bad || best == "" || !("ringtrain" in median)) exit 1
			printf "ratio gloo/ringtrain: %.2f (%s)\n", median[best] / median["ringtrain"], best
		}'
}

"$here/gloo.sh" -n 2 -i 1 4 >/dev/null # installs and compiles outside the rounds
round=0
while [ "$round" -lt "$rounds" ]; do
	round=$((round + 1))
	echo "round $round of $rounds" >&2
	run_ringtrain >>"$figures/all"
	run_gloo >>"$figures/all"
done
echo "all-reduce of $bytes bytes over $ranks ranks, TCP on loopback: median time in us over $rounds rounds"
report
