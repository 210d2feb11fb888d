"""The scaling study's model: cases worked out by hand, what must hold in every run, and calibration that finds what it is given."""
import csv
import dataclasses
import heapq
import json
import os
import subprocess
import sys
import tempfile
import unittest

BENCH = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))), "bench")
sys.path[:0] = [os.path.join(BENCH, "scaling"), BENCH]
from model_calibrate import calibrate, factors_of  # noqa: E402
from model_cohort import makespan  # noqa: E402
from model_dealer import dealer  # noqa: E402
from model_device import device_model, service_seconds  # noqa: E402
from model_events import pipe, simulation  # noqa: E402
from model_job import machine, saved_by_term, simulate_work  # noqa: E402
from model_plan import automatic_batch_items, even_plan, falling_plan, program_plan, slice_plan  # noqa: E402
from model_predict import read_site  # noqa: E402
from model_rank import costs  # noqa: E402
from model_read import BATCH_SIZE, problem_in, read_folder  # noqa: E402

AT_ONCE = costs(between_messages=1e-9, between_signals=1e-9)  # no polling, no latency
COLUMNS = ("batch", "items", "rank", "lane", "asked", "read_begin", "read_end", "compute_begin", "compute_end", "write_begin",
           "write_end")


def a_second_a_batch(**more):
    """A device of one lane that computes a batch of 100 items in a second."""
    return machine(device_model(0.0, 100.0), 1, AT_ONCE, **more)


class ByHand(unittest.TestCase):
    def work(self, m, ranks, plan, factors=None):
        return simulate_work(m, ranks, plan, factors).seconds

    def test_one_device_takes_the_sum_of_its_batches(self):
        m = machine(device_model(0.0, 1000.0, 0.01), 1, AT_ONCE)
        self.assertAlmostEqual(self.work(m, 1, [100] * 10), 10 * (0.01 + 0.1), 6)

    def test_one_rank_sees_its_own_claim_at_its_next_turn_20_ms_later(self):
        m = dataclasses.replace(a_second_a_batch(), costs=costs())
        self.assertAlmostEqual(self.work(m, 1, [100] * 3), 0.020 + 3.0, 6)

    def test_reading_the_first_and_writing_the_last_batch_is_seen(self):
        m = dataclasses.replace(a_second_a_batch(), costs=dataclasses.replace(AT_ONCE, read=(0.1, 0.001), write=(0.05, 0.0005)))
        self.assertAlmostEqual(self.work(m, 1, [100] * 5), 0.2 + 5.0 + 0.1, 6)

    def test_two_lanes_hide_a_latency_but_the_first(self):
        m = machine(device_model(0.5, 100.0), 2, AT_ONCE)
        self.assertAlmostEqual(self.work(m, 1, [100] * 6), 0.5 + 6.0, 6)
        self.assertAlmostEqual(self.work(dataclasses.replace(m, lanes=1), 1, [100] * 6), 6 * 1.5, 6)

    def test_warming_up_delays_the_first_batches_alone(self):
        m = machine(device_model(0.0, 100.0, 0.0, 0.0, 0.25), 2, AT_ONCE)
        self.assertAlmostEqual(self.work(m, 1, [100] * 4), 4.25, 6)

    def test_a_tail_waits_behind_the_next_batch_and_is_short_at_the_end(self):
        m = machine(device_model(0.0, 100.0, 0.0, 0.1), 2, AT_ONCE)
        done = simulate_work(m, 1, [100] * 4)
        self.assertEqual([round(t["compute_end"], 6) for t in done.times], [2.0, 3.0, 4.0, 4.1])
        alone = simulate_work(dataclasses.replace(m, lanes=1), 1, [100] * 3)
        self.assertEqual([round(t["compute_end"], 6) for t in alone.times], [1.1, 2.2, 3.3])

    def test_a_device_half_as_fast_gets_half_as_many(self):
        m = a_second_a_batch(speeds=(1.0, 0.5))
        done = simulate_work(m, 2, [100] * 30)
        self.assertAlmostEqual(done.seconds, 20.0, 5)
        self.assertEqual(sum(t["rank"] == 1 for t in done.times), 10)
        self.assertAlmostEqual(self.work(dataclasses.replace(m, dealing="static"), 2, [100] * 30), 30.0, 5)

    def test_batches_that_cost_more_take_longer(self):
        self.assertAlmostEqual(self.work(a_second_a_batch(), 1, [100] * 4, [1.0, 2.0, 0.5, 1.0]), 4.5, 6)

    def test_the_file_system_bounds_all_nodes_and_a_nodes_link_its_ranks(self):
        quick = dataclasses.replace(a_second_a_batch(input_bytes_per_item=10), device=device_model(0.0, 1e12))
        plan = [10] * 8  # 800 bytes
        self.assertAlmostEqual(self.work(dataclasses.replace(quick, file_system_rate=100), 2, plan), 8.0, 5)
        self.assertAlmostEqual(self.work(dataclasses.replace(quick, node_rate=100, ranks_per_node=2), 2, plan), 8.0, 5)
        apart = dataclasses.replace(quick, node_rate=100, ranks_per_node=1)
        self.assertAlmostEqual(self.work(dataclasses.replace(apart, dealing="static"), 2, plan), 4.0, 5)
        # Claims wait for what rank 0 reads: it reads two batches while the other's claim is answered.
        self.assertGreater(self.work(apart, 2, plan), 4.5)

    def test_rank_0_bounds_the_claims(self):
        # Rank 0, a device of its own that takes 10 s a batch, spends 0.1 s on each note: a batch of another rank is two
        # notes (wants, has done), so that 200 batches take 40 s, whatever the other seven could do (200 x 0.01 s / 7).
        m = a_second_a_batch(speeds=(0.1,) + (100.0,) * 7)
        busy = dataclasses.replace(m, costs=dataclasses.replace(AT_ONCE, message_service=0.1))
        done = simulate_work(busy, 8, [100] * 200)
        elsewhere = sum(t["rank"] != 0 for t in done.times)
        self.assertGreater(elsewhere, 190)
        last_claim = max(t["read_begin"] for t in done.times if t["rank"] != 0)
        self.assertAlmostEqual(last_claim / (0.2 * elsewhere), 1, delta=0.05)
        whole, _, saved = saved_by_term(busy, 8, [100] * 200)
        self.assertEqual(max(saved, key=saved.get), "claims")
        self.assertGreater(saved["claims"], 0.4 * whole)  # without it: two batches of rank 0's, 20 s

    def test_a_claim_of_an_idle_rank_is_answered_after_two_turns_of_both(self):
        # Open MPI tells of a message at the second probe: up to 2 x 0.5 ms each way.
        m = dataclasses.replace(a_second_a_batch(), costs=costs())
        asked = [t["read_begin"] - t["asked"] for t in simulate_work(m, 2, [100] * 8).times if t["rank"] == 1]
        self.assertTrue(all(0.00099 <= wait <= 0.0021 for wait in asked), asked)

    def test_half_the_pipe_each(self):
        sim, ends = simulation(), []
        shared = pipe(sim, 10.0)
        for begin, amount in ((0.0, 10.0), (0.5, 10.0), (0.5, 2.5)):
            sim.at(begin, shared.send, amount, lambda amount=amount: ends.append((amount, round(sim.now, 9))))
        sim.run()
        # 5 moved by 0.5 s; then a third each: 2.5 is through at 1.25; then half each: 2.5 left, 7.5 left.
        self.assertEqual(ends, [(2.5, 1.25), (10.0, 1.75), (10.0, 2.25)])

    def test_a_cohort_of_four_on_two_devices(self):
        site = dict(read_site(), job_starts_per_s=2.0, job_gap_s=1.0, gpus_per_node=1, file_per_rank_s=0.0)
        with tempfile.TemporaryDirectory() as folder:
            write_runs(folder, a_second_a_batch(), 400, sizes=(100,), ranks=(1,))
            found = calibrate(read_folder(folder), site)
        # Start 0.6 s (launch 0.1, stages 0.5), work 4 s, end 0.4 s, a gap of 1 s, again; the second device begins 0.5 s later.
        self.assertAlmostEqual(makespan(a_second_a_batch(), found, site, 4, 2, 1, [100] * 4), 0.5 + 5 + 1 + 5, 4)
        # Each reads 4 x 100 bytes: both at once, 100 bytes/s, take 8 s for it and their last batch 1 s more.
        read = a_second_a_batch(input_bytes_per_item=1, file_system_rate=100.0)
        together = makespan(read, found, dict(site, job_starts_per_s=1e9), 2, 2, 1, [100] * 4)
        self.assertAlmostEqual(together, 0.6 + 8 + 1 + 0.4, 3)


class Always(unittest.TestCase):
    def machines(self):
        polled = costs(read=(1e-3, 1e-5), write=(2e-3, 1e-5), wake=1e-4, message_latency=1e-4, message_service=1e-5)
        for lanes in (1, 2):
            for dealing in ("in order", "by speed", "static"):
                yield machine(device_model(0.01, 900.0, 0.002, 0.015, 0.1), lanes, polled, speeds=(1.0, 0.3, 2.0),
                              ranks_per_node=2, node_rate=1e6, file_system_rate=3e6, input_bytes_per_item=100,
                              output_bytes_per_item=200, dealing=dealing)

    def test_every_batch_is_computed_once_and_a_lane_has_one_at_a_time(self):
        plan = even_plan(1003, 17) + [1, 250]
        for m in self.machines():
            for ranks in (1, 2, 3, 5, 80):
                done = simulate_work(m, ranks, plan)
                self.assertEqual(sorted(t["batch"] for t in done.times), list(range(len(plan))))
                self.assertEqual(sum(t["items"] for t in done.times), sum(plan))
                for r in range(ranks):
                    for lane in range(m.lanes):
                        own = [t for t in done.times if (t["rank"], t["lane"]) == (r, lane)]
                        self.assertTrue(all(a["compute_end"] <= b["compute_begin"] for a, b in zip(own, own[1:])))
                for t in done.times:
                    moments = [t[c] for c in COLUMNS[4:]]
                    self.assertEqual(moments, sorted(moments))
                self.assertGreaterEqual(done.seconds, max(t["write_end"] for t in done.times))

    def test_the_same_again(self):
        for m in self.machines():
            self.assertEqual(simulate_work(m, 7, [20] * 90).times, simulate_work(m, 7, [20] * 90).times)

    def test_without_costs_it_scales_ideally(self):
        for ranks in (1, 2, 8, 64, 500):
            self.assertAlmostEqual(simulate_work(a_second_a_batch(), ranks, [100] * 3 * ranks).seconds, 3.0, 3)

    def test_never_faster_than_ideal(self):
        for m in self.machines():
            for ranks in (1, 2, 4):
                whole, ideal, _ = saved_by_term(m, ranks, [50] * 40)
                self.assertGreater(whole, ideal)


class Plans(unittest.TestCase):
    def test_as_the_program_makes_them(self):
        # 900,416 voxels: what core/plan.cpp chose on a GPU (63 batches, the last of 11,584) and on a core (252).
        size = automatic_batch_items(900416, 100 << 30, 10000, 2, 1 << 30)
        self.assertEqual((size, len(even_plan(900416, size)), even_plan(900416, size)[-1]), (14336, 63, 11584))
        self.assertEqual(automatic_batch_items(900416, 0, 10000, 1, 1 << 30), 3584)
        self.assertEqual(automatic_batch_items(100, 1 << 30, 1 << 20, 2, 1 << 30), 307)
        self.assertEqual(slice_plan([10, 25, 3], 10), [10, 8, 8, 9, 3])
        self.assertEqual(falling_plan(1000, 300, 100, 2), [300, 300, 204, 108, 88])
        self.assertEqual(sum(program_plan(900416, 2048)), 900416)
        self.assertEqual((program_plan(900416, 2048)[0], min(program_plan(900416, 2048)[:-1])), (14336, 2048))

    def test_costs_go_over_to_another_plan(self):
        profile = ((100, 1.0), (200, 3.0))
        self.assertEqual(factors_of(profile, [100, 100]), [1.0, 3.0])
        self.assertEqual(factors_of(profile, [50, 100, 50]), [1.0, 2.0, 3.0])


def write_runs(folder, m, items, sizes, ranks, name="case"):
    """Runs of the model itself, written as the program writes its own."""
    for n in ranks:
        for size in sizes:
            done = simulate_work(m, n, even_plan(items, size))
            base = os.path.join(folder, f"{name}_n{n}_b{size}")
            ends = (("MPI started", 0.1), ("buffers made", 0.5), ("batches computed", 0.5 + done.seconds),
                    ("result named", 0.9 + done.seconds))
            summary = {"rank_count": n, "wall_s": 1.0 + done.seconds, "all": {"peak_device_bytes": 1.0 if m.lanes > 1 else 0.0},
                       "stages": [{"name": stage, "ended_seconds": end} for stage, end in ends]}
            with open(base + ".json", "w", encoding="utf-8") as file:
                json.dump(summary, file)
            with open(base + ".trace.csv", "w", encoding="utf-8", newline="") as file:
                writer = csv.DictWriter(file, COLUMNS)
                writer.writeheader()
                writer.writerows(done.times)


class Dealing(unittest.TestCase):
    def grants(self, speeds, items):
        """Who gets what, each rank with a batch in hand; speeds in 1e5 items/s."""
        plan, found, ends, free = falling_plan(items, 14336, 2048, 24), [], [], [0.0] * len(speeds)
        deal = dealer(plan, len(speeds))

        def answer(now):
            for r, number in deal.answers(now):
                if number is not None:
                    free[r] = max(now, free[r]) + plan[number] / (1e5 * speeds[r])
                    heapq.heappush(ends, (free[r], number, r))
                    found.append(f"{r}:{number}")

        for turn in range(2):
            for r in range(len(speeds)):
                deal.ask(r)
                answer(turn * 1e-3)
        while ends:
            now, number, r = heapq.heappop(ends)
            deal.done(r, number, now)
            deal.ask(r)
            answer(now)
        return " ".join(found)

    def test_as_rank_0_deals(self):
        # What mpi/run/dealer.cpp said to the same questions at the same times.
        self.assertEqual(self.grants([1, 1], 20000), "0:9 1:8 0:0 1:1 0:2 1:3 0:4 1:5 0:6 1:7")
        self.assertEqual(self.grants([1, 0.5, 2], 20000), "0:0 1:1 2:2 0:3 1:4 2:5 2:6 2:7 2:8 0:9")
        self.assertEqual(self.grants([1, 1, 1, 1, 0.1], 20000), "0:0 1:1 2:2 3:3 4:4 0:5 1:6 2:7 3:8 4:9")


class Names(unittest.TestCase):
    def test_what_a_file_is_a_run_of(self):
        self.assertEqual([problem_in(n) for n in ("m1_r2_b4224_1", "tensor_cpu16", "ballstick-m2.n4", "m1_r2_slices")],
                         ["m1", "tensor", "ballstick-m2", "m1"])
        self.assertEqual(BATCH_SIZE.sub("", "ballstick-m1@batch=2112@slices=48"), "ballstick-m1@slices=48")


class FromFiles(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def model(self, *words, status=0):
        done = subprocess.run([sys.executable, os.path.join(BENCH, "scaling", "model.py"), *words], capture_output=True,
                              text=True, timeout=120)
        self.assertEqual(done.returncode, status, done.stderr)
        return done.stdout + done.stderr

    def gpu(self):
        moved = costs(read=(1e-3, 1e-6), write=(5e-4, 2e-6), wake=4e-5, message_latency=5e-6, message_service=5e-7)
        return machine(device_model(0.004, 1e5, 0.002), 2, moved)

    def test_calibration_finds_the_device(self):
        write_runs(self.folder, self.gpu(), 200000, sizes=(500, 2000, 8000), ranks=(1,))
        found = calibrate(read_folder(self.folder), read_site())
        self.assertAlmostEqual(found.device.rate / 1e5, 1, delta=0.01)
        self.assertAlmostEqual(found.device.overhead_s, 0.002, delta=0.0003)
        self.assertAlmostEqual(found.costs.read[1] / 1e-6, 1, delta=0.01)
        self.assertAlmostEqual(found.costs.write[1] / 2e-6, 1, delta=0.01)
        self.assertAlmostEqual(found.launch, 0.1, 6)

    def test_service_is_what_a_batch_has_the_device_for(self):
        self.assertEqual(service_seconds(device_model(1.0, 1.0), [0.0, 1.0, 9.0], [3.0, 5.0, 12.0]), [2.0, 2.0, 2.0])
        # With a tail of 0.5: the second is through when the first ends, the third when the second ends.
        with_tail = device_model(0.0, 1.0, 0.0, 0.5)
        self.assertEqual(service_seconds(with_tail, [0.0, 1.0, 4.0, 9.0], [4.0, 6.0, 6.5, 11.5]), [3.5, 0.5, 2.0, 2.0])

    def test_validate_predicts_runs_of_several_ranks(self):
        write_runs(self.folder, self.gpu(), 200000, sizes=(500, 2000, 8000), ranks=(1, 2, 4))
        self.model("validate", self.folder, "--in-order")
        with open(os.path.join(self.folder, "model_validation.csv"), encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual([(r["ranks"], r["batch_items"]) for r in rows].count(("4", "2000")), 1)
        self.assertEqual(len(rows), 9)
        for r in rows:
            self.assertAlmostEqual(float(r["work_model_s"]) / float(r["work_s"]), 1, delta=0.02, msg=str(r))
            self.assertAlmostEqual(float(r["wall_model_s"]) / float(r["wall_s"]), 1, delta=0.02, msg=str(r))

    def test_predict_writes_tables_and_a_chart(self):
        write_runs(self.folder, self.gpu(), 200000, sizes=(500, 8000), ranks=(1,))
        said = self.model("predict", self.folder, "--gpus", "1,2,16", "--charts", self.folder)
        with open(os.path.join(self.folder, "prediction.csv"), encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual(list(dict.fromkeys(r["gpus"] for r in rows)), ["1", "2", "16"])
        programs = {r["gpus"]: r for r in rows if r["batch_items"] == "0"}
        self.assertEqual(len(programs), 3)
        for r in rows:
            self.assertLessEqual(float(r["work_s"]), 1.006 * float(programs[r["gpus"]]["work_s"]))
        self.assertIn("| 16 |", said)
        with open(os.path.join(self.folder, "scaling_model_subject.svg"), encoding="utf-8") as file:
            self.assertIn("whole command", file.read())
        said = self.model("predict", self.folder, "--gpus", "2,8", "--subjects", "6", "--charts", self.folder)
        self.assertEqual(sum(line.startswith("| 8 ") for line in said.splitlines()), 3)

    def test_says_what_is_missing(self):
        self.assertIn("no runs with stages and a trace", self.model("validate", self.folder, status=1))
        write_runs(self.folder, self.gpu(), 20000, sizes=(500,), ranks=(2,))
        self.assertIn("no run of one rank to calibrate on", self.model("validate", self.folder))
        self.assertIn("no cuda run of one rank", self.model("predict", self.folder, status=1))


if __name__ == "__main__":
    unittest.main()
