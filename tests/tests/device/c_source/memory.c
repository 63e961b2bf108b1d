/* What a compiler calls without being asked, for boards without a C library. */
#include <stddef.h>

void *memcpy(void *to, const void *from, size_t size);
void *memmove(void *to, const void *from, size_t size);
void *memset(void *to, int value, size_t size);

void *memcpy(void *to, const void *from, size_t size)
{
    volatile unsigned char *target = to;
    const unsigned char *source = from;
    while (size-- > 0) {
        *target++ = *source++;
    }
    return to;
}

void *memset(void *to, int value, size_t size)
{
    volatile unsigned char *target = to;
    while (size-- > 0) {
        *target++ = (unsigned char)value;
    }
    return to;
}

void *memmove(void *to, const void *from, size_t size)
{
    volatile unsigned char *target = to;
    const unsigned char *source = from;
    size_t n;
    for (n = 0; n < size; n++) {
        if (target <= source) {
            target[n] = source[n];
        } else {
            target[size - 1 - n] = source[size - 1 - n];
        }
    }
    return to;
}
