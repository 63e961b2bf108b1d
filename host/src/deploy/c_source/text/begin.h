#ifndef FISHWEIR_H
#define FISHWEIR_H

#include <stddef.h>
#include <stdint.h>

@SIZES@
#ifdef __cplusplus
extern "C" {
#endif

/* Outcome of a call. */
typedef int32_t fishweir_status;
enum {
    /* Done. */
    FISHWEIR_STATUS_OK = 0,
    /* The sample is impossible under all models left: it is missing. */
    FISHWEIR_STATUS_IMPOSSIBLE = 1,
    /* A channel is infinite, or NaN that may not be missing, or the symbol is outside the alphabet: the sample is missing. */
    FISHWEIR_STATUS_INVALID = 2,
    /* A pointer is null. */
    FISHWEIR_STATUS_NULL_POINTER = 3,
    /* A size or a count is not this model's: the header belongs to another source. */
    FISHWEIR_STATUS_WRONG_SIZE = 5,
    /* fishweir_init() has not been called on this stream. */
    FISHWEIR_STATUS_NOT_STARTED = 6,
    /* No decision is due: the last sample filled no window. Of fishweir_decide_so_far(): no window is open, or partly filled
     * ones do not decide. */
    FISHWEIR_STATUS_NO_DECISION = 11
};

