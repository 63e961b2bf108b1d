
/* Square root of a positive integer, to the nearest float. */
static float root_of(float x)
{
    const int32_t exponent = exponent_of(x);
    const int32_t odd = exponent & 1;
    /* The root of an integer of 49 or 50 bits has 25. */
    const uint64_t square = (uint64_t)((bits_of(x) & 0x007fffffu) | 0x00800000u) << (25 + odd);
    uint64_t root = 0, bit;
    for (bit = (uint64_t)1 << 24; bit != 0; bit >>= 1) {
        if ((root | bit) * (root | bit) <= square) {
            root |= bit;
        }
    }
    /* Half a unit is the last bit: with a remainder it is above half, and without one the root is exact. */
    if (root * root != square) {
        root += root & 1;
    }
    return (float)root * power_of_two((exponent - odd) / 2 - 24);
}
