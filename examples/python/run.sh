#!/bin/sh
# A notebook from a raw table to scores, and a search by Optuna. Needs the wheel of ringtrain,
# pandas, scikit-learn, Optuna, nbclient and ipykernel in Python's environment.
set -eu
cd "$(dirname "$0")"
ringtrain data make table --rows 4000 --to data
jupyter execute churn.ipynb
python3 search.py
