/* From reset to main: vectors, the FPU, .data and .bss. */
#include <stdint.h>

#include "board.h"

extern uint32_t stack_top, data_load, data_start, data_end, bss_start, bss_end;

int main(void);

_Noreturn void reset(void);

_Noreturn void reset(void)
{
    /* CPACR: full access to the FPU. The library is compiled for it. */
    *(volatile uint32_t *)0xE000ED88u |= 0xFu << 20;
    __asm__ volatile("dsb\n\tisb" ::: "memory");
    const uint32_t *from = &data_load;
    for (uint32_t *to = &data_start; to < &data_end;) {
        *to++ = *from++;
    }
    for (uint32_t *to = &bss_start; to < &bss_end;) {
        *to++ = 0;
    }
    board_exit(main());
}

static _Noreturn void fault(void)
{
    board_exit(100);
}

union vector {
    uint32_t *stack;
    void (*handler)(void);
};

/* Stack, reset, NMI and the faults. The example enables no interrupt. */
__attribute__((section(".vectors"), used)) static const union vector vectors[] = {
    {.stack = &stack_top}, {.handler = reset}, {.handler = fault}, {.handler = fault},
    {.handler = fault},    {.handler = fault}, {.handler = fault},
};
