
/* 2^16 log2(1 + i/64). */
static const uint32_t LOGARITHMS[65] = {
    0, 1466, 2909, 4331, 5732, 7112, 8473, 9814, 11136, 12440, 13727, 14996, 16248, 17484, 18704, 19909, 21098, 22272, 23433,
    24579, 25711, 26830, 27936, 29029, 30109, 31178, 32234, 33279, 34312, 35334, 36346, 37346, 38336, 39316, 40286, 41246, 42196,
    43137, 44068, 44990, 45904, 46809, 47705, 48593, 49472, 50344, 51207, 52063, 52911, 53751, 54584, 55410, 56229, 57040, 57845,
    58643, 59434, 60219, 60997, 61769, 62534, 63294, 64047, 64794, 65536
};

/* 2^16 log2(v) of a positive integer. */
static int32_t log2_of(uint32_t v)
{
    int32_t whole = 31;
    uint32_t place, part;
    unsigned index;
    while (v < 0x80000000u) {
        v <<= 1;
        whole -= 1;
    }
    place = (v & 0x7fffffffu) >> 15;
    index = (unsigned)(place >> 10);
    part = place & 0x3ffu;
    return whole * 65536 + (int32_t)(LOGARITHMS[index] + (((LOGARITHMS[index + 1] - LOGARITHMS[index]) * part + 512u) >> 10));
}
