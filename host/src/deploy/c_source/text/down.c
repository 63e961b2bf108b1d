
/* x 2^-by, rounded down. */
static int32_t down(int32_t x, uint32_t by)
{
    return x < 0 ? ~(~x >> by) : x >> by;
}
