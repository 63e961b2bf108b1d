/* Loads a module of MicroPython 6.3 as MicroPython does, with as much of it as a module calls, and pushes the steps of
 * recording.h through its Stream: a line for each sample, its status and the answer, in hexadecimal. */
#include <stddef.h>

#include "board.h"

enum step_kind { SAMPLE, MISSING, RESET };

struct step {
    uint8_t kind;
    float sample[CHANNELS];
};

#include "module.h"
#include "recording.h"

typedef uintptr_t object;

/* An object begins with its type, and a type with the type of types; an integer is odd. */
struct head { const void *type; };
static const struct head type_type = {&type_type}, type_none = {&type_type}, type_integer = {&type_type},
    type_float = {&type_type}, type_tuple = {&type_type}, type_text = {&type_type}, type_dict = {&type_type},
    type_of_one = {&type_type}, type_of_two = {&type_type};
static const struct head none = {&type_none}, of_one = {&type_of_one}, of_two = {&type_of_two},
    error = {&type_type};
struct number { const void *type; float value; };
struct tuple { const void *type; size_t count; object items[]; };
struct text { const void *type; size_t length; char text[]; };
struct pair { const char *name; object value; };
struct dict { const void *type; size_t count; struct pair pairs[16]; };
struct method { const void *type; object function; };
struct type {
    const void *type;
    uint16_t flags, name;
    uint8_t slots[12];
    object slot[];
};

static unsigned char heap[1 << 16] __attribute__((aligned(16)));
static unsigned char code[1 << 16] __attribute__((aligned(16)));
static size_t used;
static uint16_t names[64];
static const char *name[64];
static struct dict globals = {&type_dict, 0, {{0, 0}}};
static void *raised[5];
static const char *message;

static void fail(const char *why)
{
    board_write(why);
    board_write("\n");
    for (;;) {
    }
}

static int same(const char *one, const char *other)
{
    while (*one != '\0' && *one == *other) {
        one++;
        other++;
    }
    return *one == *other;
}

static void *reallocate(void *old, size_t size, _Bool moves)
{
    void *room = heap + used;
    (void)moves;
    if (old != NULL) {
        return NULL;
    }
    /* What was there before is not zero. */
    __builtin_memset(room, 0xa5, size);
    used += (size + 15) & ~(size_t)15;
    if (used > sizeof heap) {
        fail("no room");
    }
    return room;
}

static void *new_of(const void *type, size_t size)
{
    struct head *made = reallocate(NULL, size, 0);
    made->type = type;
    return made;
}

static void raise_message(object type, const char *text)
{
    if (type != (object)&error) {
        fail("an error of another type");
    }
    message = text;
    __builtin_longjmp(raised, 1);
}

static const void *type_of(object value)
{
    return value & 1 ? &type_integer : ((const struct head *)value)->type;
}

static uintptr_t from_object(object value, uintptr_t kind)
{
    return kind == 4 ? (uintptr_t)((struct text *)value)->text : (uintptr_t)((intptr_t)value >> 1);
}

static object to_object(uintptr_t value, uintptr_t kind)
{
    (void)kind;
    return value << 1 | 1;
}

static void *swap_globals(void *other)
{
    (void)other;
    return NULL;
}

static object load_global(uintptr_t place)
{
    const char *wanted = name[place - 500];
    return same(wanted, "len") ? (object)&of_one : same(wanted, "isinstance") ? (object)&of_two : (object)&error;
}

static object store(struct dict *dict, const char *text, object value)
{
    dict->pairs[dict->count].name = text;
    dict->pairs[dict->count++].value = value;
    return (object)dict;
}

static object find(const struct dict *dict, const char *text)
{
    size_t n;
    for (n = 0; n < dict->count; n++) {
        if (same(dict->pairs[n].name, text)) {
            return dict->pairs[n].value;
        }
    }
    return 0;
}

static void store_global(uintptr_t place, object value)
{
    store(&globals, name[place - 500], value);
}

static object new_tuple(size_t count, const object *items)
{
    struct tuple *made = new_of(&type_tuple, sizeof *made + count * sizeof *items);
    size_t n;
    made->count = count;
    for (n = 0; n < count; n++) {
        made->items[n] = items[n];
    }
    return (object)made;
}

static object new_dict(size_t room)
{
    struct dict *made = new_of(&type_dict, sizeof *made);
    made->count = 0;
    (void)room;
    return (object)made;
}

static object dict_store(object dict, object key, object value)
{
    return store((struct dict *)dict, ((struct text *)key)->text, value);
}

static void unpack(object sequence, size_t count, object *items)
{
    const struct tuple *from = (const struct tuple *)sequence;
    size_t n;
    if (from->count != count) {
        fail("another count");
    }
    for (n = 0; n < count; n++) {
        items[count - 1 - n] = from->items[n];
    }
}

static void check_arguments(size_t count, size_t named, uint32_t signature)
{
    if (count != 0 || named != 0 || signature != 0) {
        fail("arguments");
    }
}

static object new_text(const char *text, size_t length)
{
    struct text *made = new_of(&type_text, sizeof *made + length + 1);
    size_t n;
    made->length = length;
    for (n = 0; n < length; n++) {
        made->text[n] = text[n];
    }
    made->text[length] = '\0';
    return (object)made;
}

static object new_float(float value)
{
    struct number *made = new_of(&type_float, sizeof *made);
    made->value = value;
    return (object)made;
}

static float to_float(object value)
{
    return value & 1 ? (float)((intptr_t)value >> 1) : ((struct number *)value)->value;
}

/* The table, by the places that a module may use. */
static const uintptr_t table[64] = {
    [0] = (uintptr_t)&none, [3] = (uintptr_t)from_object, [4] = (uintptr_t)to_object, [5] = (uintptr_t)swap_globals,
    [7] = (uintptr_t)load_global, [13] = (uintptr_t)store_global, [19] = (uintptr_t)new_tuple,
    [21] = (uintptr_t)new_dict, [25] = (uintptr_t)dict_store, [39] = (uintptr_t)unpack,
    [44] = (uintptr_t)check_arguments, [52] = (uintptr_t)reallocate, [55] = (uintptr_t)raise_message,
    [56] = (uintptr_t)type_of, [57] = (uintptr_t)new_text, [60] = (uintptr_t)new_float, [62] = (uintptr_t)to_float,
};

static const uint8_t *at = module;

static size_t number(void)
{
    size_t value = 0;
    do {
        value = value << 7 | (*at & 0x7f);
    } while (*at++ & 0x80);
    return value;
}

/* Loads the module, and calls its entry. */
static void import(void)
{
    static const uintptr_t *objects[] = {table};
    static const void *context[] = {NULL, &globals, names, objects};
    static const void *function[] = {NULL, context};
    size_t count, n, length;
    uintptr_t entry = (uintptr_t)code;
    if (at[0] != 'M' || at[1] != 6 || at[2] != (ARCHITECTURE << 2 | 3)) {
        fail("another file");
    }
    at += 4;
    count = number();
    if (number() != 1) {
        fail("objects");
    }
    for (n = 0; n < count; n++) {
        length = number() >> 1;
        name[n] = (const char *)at;
        names[n] = (uint16_t)(500 + n);
        at += length + 1;
    }
    if (*at++ != 0) {
        fail("no table");
    }
    length = number();
    if ((length & 7) != 2 || length >> 3 > sizeof code) {
        fail("code");
    }
    __builtin_memcpy(code, at, length >> 3);
    at += length >> 3;
    if (number() != 0x10) {
        fail("flags");
    }
    while (*at != 0xff) {
        if (*at++ != 1) {
            fail("a relocation");
        }
        ((uintptr_t *)code)[number() >> 1] += (uintptr_t)code;
    }
#if defined(__thumb__)
    entry |= 1;
#endif
#if defined(__riscv)
    __asm__ volatile(".option push\n\t.option arch, +zifencei\n\tfence.i\n\t.option pop" ::: "memory");
#endif
    ((object (*)(const void *, size_t, size_t, const void *))entry)(function, 0, 0, NULL);
}

static object call(object self, const char *method, object argument, int has_argument)
{
    const struct type *type = type_of(self);
    const struct method *found = (const struct method *)find((struct dict *)type->slot[type->slots[11] - 1], method);
    if (found == NULL || found->type != (has_argument ? (const void *)&type_of_two : &type_of_one)) {
        fail(method);
    }
    if (has_argument) {
        return ((object (*)(object, object))found->function)(self, argument);
    }
    return ((object (*)(object))found->function)(self);
}

static void write_number(uint32_t value)
{
    board_write(" ");
    board_write_hex(value);
}

static void write_float(object value)
{
    union {
        float value;
        uint32_t bits;
    } as = {to_float(value)};
    write_number(as.bits);
}

static void answer(object self)
{
    const struct tuple *read = (const struct tuple *)call(self, "read", 0, 0);
    const struct tuple *classes = (const struct tuple *)find(&globals, "CLASSES");
    const struct tuple *logs;
    size_t n;
    if ((object)read == (object)&none) {
        return;
    }
    for (n = 0; !same(((struct text *)classes->items[n])->text, ((struct text *)read->items[0])->text); n++) {
    }
    write_number((uint32_t)n);
    write_float(read->items[1]);
    logs = (const struct tuple *)call(self, "log_likelihoods", 0, 0);
    for (n = 0; n < logs->count; n++) {
        write_float(logs->items[n]);
    }
}

static uint32_t push(object self, object sample)
{
    /* Read after a jump. */
    static object this, what;
    this = self;
    what = sample;
    if (__builtin_setjmp(raised) == 0) {
        (void)call(this, "push", what, 1);
        return 0;
    }
    return message[0] == 't' ? 1 : 2;
}

int main(void)
{
    const struct type *type;
    object stream;
    size_t t, d, kept;
    board_start();
    if (__builtin_setjmp(raised) != 0) {
        board_write(message);
        return 0;
    }
    import();
    type = (const struct type *)find(&globals, "Stream");
    stream = ((object (*)(const void *, size_t, size_t, const void *))type->slot[type->slots[0] - 1])(type, 0, 0, NULL);
    kept = used;
    for (t = 0; t < sizeof recording / sizeof *recording; t++) {
        const struct step *step = &recording[t];
        object items[CHANNELS], row = (object)&none;
        used = kept;
        if (step->kind == RESET) {
            (void)call(stream, "reset", 0, 0);
            continue;
        }
        if (step->kind == SAMPLE) {
            for (d = 0; d < CHANNELS; d++) {
                items[d] = new_float(step->sample[d]);
            }
            row = new_tuple(CHANNELS, items);
        }
        board_write_hex(push(stream, row));
        answer(stream);
        board_write("\n");
    }
    return 0;
}
