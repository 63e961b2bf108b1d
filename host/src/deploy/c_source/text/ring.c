
/* Rings of past samples. What lies before a stream's beginning is as its first sample. */
static uint32_t back(const fishweir_ring *ring, uint32_t lag, uint32_t depth)
{
    return ring->oldest >= lag ? ring->oldest - lag : ring->oldest + depth - lag;
}

static void take(fishweir_ring *ring, channel past[][FISHWEIR_CHANNELS], uint32_t depth, const channel *x)
{
    uint32_t slot;
    for (slot = 0; ring->rows == 0 && slot < depth; slot++) {
        memcpy(past[slot], x, sizeof past[slot]);
    }
    memcpy(past[ring->oldest], x, sizeof past[ring->oldest]);
    ring->oldest = ring->oldest + 1 < depth ? ring->oldest + 1 : 0;
    ring->rows += ring->rows < depth;
}

/* Lets a sample pass that was not observed: the last one that was stands for it. */
static void take_missing(fishweir_ring *ring, channel past[][FISHWEIR_CHANNELS], uint32_t depth)
{
    channel last[FISHWEIR_CHANNELS];
    if (ring->rows > 0) {
        memcpy(last, past[back(ring, 1, depth)], sizeof last);
        take(ring, past, depth, last);
    }
}
