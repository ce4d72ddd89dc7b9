"""Celery with the server at the given port as its broker and result store.

A worker brings back what others left unacknowledged, under a mutex that it
releases by a Lua script. Until the server runs scripts, somebody else holds that
mutex here: the worker then leaves that work to them, as it is made to.
"""
import os
import subprocess
import sys
import tempfile

import redis
from celery import Celery, chain, group

PORT = os.environ.get("DAY_PORT") or sys.argv[1]
URL = f"redis://127.0.0.1:{PORT}"
app = Celery("celery_day", broker=URL + "/0", backend=URL + "/1")
app.conf.update(broker_connection_retry=False, worker_prefetch_multiplier=4, task_acks_late=True)


@app.task(name="add")
def add(x, y):
    return x + y


def finish(worker, log):
    """Stops the worker and returns what it logged."""
    worker.terminate()
    worker.wait(30)
    log.seek(0)
    return log.read().decode()


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    redis.Redis(port=int(PORT)).set("unacked_mutex", "held by another worker", ex=3600)
    log = tempfile.TemporaryFile()
    worker = subprocess.Popen(
        [sys.executable, "-B", "-m", "celery", "-A", "celery_day", "worker", "-c", "2", "-P", "threads", "-l", "INFO"],
        cwd=here, env={**os.environ, "DAY_PORT": PORT, "PYTHONPATH": here}, stdout=log, stderr=log)
    try:
        assert add.delay(2, 3).get(timeout=60) == 5
        results = group(add.s(i, i) for i in range(50))().get(timeout=60)
        assert results == [2 * i for i in range(50)], results
        assert chain(add.s(1, 1), add.s(10), add.s(100))().get(timeout=60) == 112
        late = add.apply_async((1, 2), countdown=1)
        assert late.get(timeout=60) == 3
    except BaseException:
        print(finish(worker, log))
        raise
    text = finish(worker, log)
    if "Traceback" in text or "unknown command" in text:
        sys.exit("the worker failed:\n" + text)


if __name__ == "__main__":
    main()
