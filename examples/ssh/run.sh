#!/bin/sh
# Eight ranks on two hosts over your own ssh; a third host takes over if one is lost. --push copies
# the program to hosts that lack it. The training data lies in /data on every host.
set -eu
hosts=host-a:4,host-b:4,host-c:4
ringtrain doctor -H "$hosts"
ringtrain run -np 8 -H "$hosts" --push --restarts 10 job.yaml --data /data
