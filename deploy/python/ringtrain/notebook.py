"""The line of progress in a notebook."""

import sys
import time

# The line changes no more often.
INTERVAL_S = 0.2


def line():
    """Returns a function of an event that shows how far a run is, None outside of a notebook."""
    ipython = sys.modules.get("IPython")
    if ipython is None or not hasattr(ipython.get_ipython(), "kernel"):
        return None
    from IPython.display import display

    handle = display({"text/plain": "ringtrain starts"}, raw=True, display_id=True)
    shown = 0.0

    def show(event):
        nonlocal shown
        text = text_of(event)
        if text and (event["event"] == "done" or time.monotonic() - shown > INTERVAL_S):
            shown = time.monotonic()
            handle.update({"text/plain": text}, raw=True)

    return show


def text_of(event):
    """Returns the line after an event, "" if it changes nothing."""
    kind = event["event"]
    if kind == "step":
        return f"step {event['step']:,} of {event['steps']:,} · epoch {event['epoch']} · loss {event['loss']:.4g} · {event['examples_per_s']:,.0f} examples/s · {event.get('left_s', 0):.0f} s left"
    if kind == "eval":
        return f"step {event['step']:,} · {event['split']} {scores(event)}"
    if kind == "done":
        return f"done · {event['steps']:,} steps in {event['took_s']:.1f} s · {scores(event.get('eval') or {'loss': event['loss']})}"
    return ""


def scores(metrics):
    """Returns the metrics that a line has room for."""
    named = [f"{name} {metrics[name]:.4g}" for name in ("loss", "accuracy", "auc", "rmse", "r2") if isinstance(metrics.get(name), (int, float))]
    return ", ".join(named)
