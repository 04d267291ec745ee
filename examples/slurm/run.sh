#!/bin/sh
# Submits a job of four nodes. The batch script starts a rank on each by srun, and has Slurm
# start the job again if a rank is lost: the checkpoint is where it goes on.
set -eu
[ -f "${XDG_CONFIG_HOME:-$HOME/.config}/ringtrain/token" ] || ringtrain token
sbatch ../../deploy/slurm/job.sbatch job.yaml --data /data
