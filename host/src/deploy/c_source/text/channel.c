
/* Channels as windows keep them. */
typedef fishweir_channel channel;
/* Channels are checked as they are taken in. */
#define is_refused(x) ((void)(x), 0)
#define change_of(x, before) ((x) - (before))
