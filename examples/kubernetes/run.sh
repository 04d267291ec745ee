#!/bin/sh
# Starts an Indexed Job. deploy/README.md says what to change in the file: image, number of
# ranks, volumes.
set -eu
kubectl create secret generic ringtrain-token --from-literal=token="$(od -An -tx1 -N32 /dev/urandom | tr -d ' \n')"
kubectl apply -f ../../deploy/kubernetes/job.yaml
kubectl logs -f --tail=-1 -l batch.kubernetes.io/job-name=mnist,batch.kubernetes.io/job-completion-index=0
