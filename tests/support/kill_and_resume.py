"""Jobs that are killed at random times and resumed, for tests of any analysis. Not a test itself."""
import os
import random
import time

from toy_jobs import kill_any, remaining_output, wait_for_ranks


def random_choices(name):
    """A source of random numbers: the same ones in every run, or new ones if VOXHERD_RANDOM_SEEDS is set, as in tests labelled
    slow. Prints its seed."""
    seed = int.from_bytes(os.urandom(4), "little") if os.environ.get("VOXHERD_RANDOM_SEEDS") else name
    print(f"seed {seed!r}")
    return random.Random(seed)


class KillAndResume:
    """Mixin of a test case."""

    program = "voxherd"  # name of the processes to kill

    def kill_at_random_times(self, start, resume, seconds, rank_counts=(1, 2, 3), attempts=3, kills=2):
        """In each attempt, kills one rank of `kills` successive jobs after up to `seconds`, then resumes the last one on another
        number of ranks. start(ranks, out): a started job that resumes `out`. resume(out, ranks): completes it and checks it."""
        chance = random_choices(self.id())
        for attempt in range(attempts):
            out = self.path(f"killed{attempt}.h5")
            for ranks in chance.sample(rank_counts, kills):
                job = start(ranks, out)
                pids = wait_for_ranks(job, ranks, self.program)
                time.sleep(chance.uniform(0, seconds))
                if pids and job.poll() is None:
                    kill_any(pids, chance)
                output = remaining_output(job, self.program)
                # A kill may come after the result was renamed: then it is complete, whatever the job's status.
                self.assertTrue(job.returncode != 0 or os.path.exists(out), output)
            resume(out, chance.choice(rank_counts))
