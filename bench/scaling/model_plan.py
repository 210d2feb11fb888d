"""The plan of batches, as core/plan.cpp makes it: numbers of items of batches, in the order they are dealt."""

GPU_STEP, CPU_STEP = 1024, 128


def rounded_up(items, to):
    return (items + to - 1) // to * to


def automatic_batch_items(items, free_device_bytes, device_bytes_per_item, lanes, most, fewest=8192):
    """automatic_batch_items() of core/plan.cpp; free_device_bytes 0: the host."""
    if free_device_bytes == 0:
        if most < CPU_STEP:
            return min(max(items // 256, 1), max(1, most))
        return min(max(rounded_up(items // 256, CPU_STEP), CPU_STEP), max(8 * GPU_STEP, most // 16))
    largest = max(1, most)
    room = 0.6 * free_device_bytes / (max(1, lanes) * max(1, device_bytes_per_item))
    fitting = int(min(room, largest))
    wanted = min(max(rounded_up(items // 64, GPU_STEP), fewest), largest)
    if fitting < GPU_STEP:
        return max(1, fitting)
    return min(wanted, fitting // GPU_STEP * GPU_STEP)


def even_plan(items, batch_items):
    """Partition by voxels: `batch_items` each, the rest last."""
    return [min(batch_items, items - first) for first in range(0, items, batch_items)]


def slice_plan(slice_items, batch_items):
    """Partition by slices: a slice of more than `batch_items` cut evenly."""
    plan = []
    for count in slice_items:
        pieces = (count + batch_items - 1) // batch_items
        plan += [count * (p + 1) // pieces - count * p // pieces for p in range(pieces)]
    return plan


PARTS_FOR_GPUS, PARTS_FOR_HOSTS, LAST_ON_HOST = 24, 128, 128


def falling_plan(items, largest, last, parts):
    """Partition by voxels where ranks fetch batches: one part in `parts` of what is left, from `largest` to `last`."""
    last = min(last, largest)
    grain = min(max(last // 8, 1), 256)
    plan, left = [], items
    while left > 0:
        part = rounded_up((left + parts - 1) // parts, grain)
        plan.append(min(min(max(part, last), largest), left))
        left -= plan[-1]
    return plan


def program_plan(items, last):
    """What the program makes of itself where a GPU's memory is no limit; `last`: analysis::last_items_per_batch()."""
    return falling_plan(items, max(rounded_up(items // 64, GPU_STEP), 8192), last, PARTS_FOR_GPUS)
