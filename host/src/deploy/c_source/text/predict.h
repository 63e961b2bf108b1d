
/* Reason for rejecting a decision. */
enum {
    /* The decision is accepted. */
    FISHWEIR_ACCEPTED = 0,
    /* The margin is less than that of nearly all decisions in training. */
    FISHWEIR_LOW_MARGIN = 1,
    /* The stream is less likely per sample than nearly all that were decided so in training: nothing like it was there. */
    FISHWEIR_LOW_LIKELIHOOD = 2,
    /* The stream is likelier per sample than nearly all of them: a sensor that rests, or has come off. */
    FISHWEIR_HIGH_LIKELIHOOD = 3
};

/* A decision, and how far it is to be believed. */
typedef struct fishweir_prediction {
    fishweir_decision decision;
    /* Probability of the class decided for, relative to the known classes. */
    float probability;
    /* FISHWEIR_ACCEPTED, or the reason for rejecting the decision. */
    int32_t rejection;
} fishweir_prediction;

/* The decision of fishweir_decide(), with its probability and the reason for rejecting it, if any. */
fishweir_status fishweir_predict(const fishweir_stream *stream, fishweir_prediction *prediction);
