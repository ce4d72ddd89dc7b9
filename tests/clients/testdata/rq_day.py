"""RQ with the server at the given port: jobs, failures, dependencies, results."""
import os
import sys

import redis
from rq import Queue, SimpleWorker

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import rq_jobs

connection = redis.Redis(port=int(sys.argv[1]))
queue, urgent = Queue("default", connection=connection), Queue("urgent", connection=connection)
jobs = [queue.enqueue(rq_jobs.double, i) for i in range(20)]
first = urgent.enqueue(rq_jobs.double, 21)
bad = queue.enqueue(rq_jobs.fail)
after = queue.enqueue(rq_jobs.double, 5, depends_on=jobs[3])
assert len(queue) == 21 and after.get_status() == "deferred", (len(queue), after.get_status())

worker = SimpleWorker([urgent, queue], connection=connection)
worker.work(burst=True, logging_level="ERROR")

assert [j.result for j in jobs] == [2 * i for i in range(20)]
assert first.result == 42 and after.result == 10
bad.refresh()
assert bad.is_failed and "as it should" in bad.exc_info
assert len(queue) == 0 and queue.failed_job_registry.count == 1
assert queue.finished_job_registry.count == 21
