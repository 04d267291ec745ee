"""A search by Optuna: each trial trains a model, and a trial that falls behind ends early, with its ranks.

All trials train on the same records, and are judged by the same held-out tenth.
"""

import contextlib
import sys

import optuna
import pandas as pd
import ringtrain

table = pd.read_csv("data/table.csv")
draft = ringtrain.init(table, label="churn")


def settings(params):
    """Returns the keys of the job that the parameters of a trial mean."""
    keys = {"model.kind": params["kind"], "model.l2": params["l2"], "optimizer.learning_rate": params["learning_rate"]}
    if params["kind"] != "linear":
        keys["model.hidden"] = [params["units"], params["units"] // 2]
    return {**keys, "export.if": "always"}


def objective(trial):
    kind = trial.suggest_categorical("kind", ["linear", "mlp", "wide-deep"])
    trial.suggest_float("l2", 1e-6, 1e-2, log=True)
    trial.suggest_float("learning_rate", 1e-3, 1e-1, log=True)
    if kind != "linear":
        trial.suggest_int("units", 8, 64, step=8)
    with contextlib.closing(ringtrain.events(draft, set=settings(trial.params))) as events:
        last = 0
        for event in events:
            if event["event"] == "eval" and event["step"] > last:  # the best step is evaluated once more at the end
                last = event["step"]
                trial.report(event["auc"], last)
                if trial.should_prune():
                    raise optuna.TrialPruned()
            elif event["event"] == "done":
                return event["eval"]["auc"]


trials = int(sys.argv[1]) if len(sys.argv) > 1 else 20
study = optuna.create_study(direction="maximize", sampler=optuna.samplers.TPESampler(seed=1), pruner=optuna.pruners.MedianPruner(n_startup_trials=3))
study.optimize(objective, trials)
best = ringtrain.train(draft, set=settings(study.best_params), to="models/best")
print(f"AUC {best.metrics['auc']:.4f} with {study.best_params}: {best.path}")
