#!/bin/sh
# Trains on two ranks, writes an export, and scores new rows. The CSV files are drawn here;
# put your own in their place, and name their columns in job.yaml.
set -eu
cd "$(dirname "$0")"
ringtrain data make clicks --rows 20000 --ids 5000 --fields 6 --numbers 2 --format csv --to data
ringtrain data check job.yaml
ringtrain run -np 2 job.yaml
ringtrain predict job.yaml data/clicks_test.csv --from export --to scores.csv --force
head -3 scores.csv
