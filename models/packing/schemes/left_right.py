"""Left-right based schemes (section 2.2): best fit, filled from both sides to keep sets of PEs apart."""

from models.kernels.bits import take_from_left, take_from_right
from models.kernels.compiling import kernel
from models.packing.schemes.capacity import tightest_slot
from models.packing.schemes.signature import PLACE_SIGNATURE

FROM_LEFT = 0
FROM_RIGHT = 1


@kernel(PLACE_SIGNATURE)
def left_right_size(size, n_pes, n_slots, matrix, books, scratch, chosen):
    """Best fit; jobs of at most ``threshold`` PEs from the left, larger ones from the right."""
    threshold = books.parameters[0]
    slot = tightest_slot(size, n_slots, matrix.free)
    if size <= threshold:
        take_from_left(size, matrix.occupied, slot, n_pes, chosen)
    else:
        take_from_right(size, matrix.occupied, slot, n_pes, chosen)
    return slot


@kernel(PLACE_SIGNATURE)
def left_right_slots(size, n_pes, n_slots, matrix, books, scratch, chosen):
    """Best fit; each slot is filled from one side, and a new one gets the side with fewer slots."""
    tags = matrix.tags
    slot = tightest_slot(size, n_slots, matrix.free)
    if slot == n_slots:
        from_right = 0
        for other in range(n_slots):
            from_right += tags[other]
        tags[slot] = FROM_RIGHT if from_right < n_slots - from_right else FROM_LEFT
    if tags[slot] == FROM_LEFT:
        take_from_left(size, matrix.occupied, slot, n_pes, chosen)
    else:
        take_from_right(size, matrix.occupied, slot, n_pes, chosen)
    return slot
