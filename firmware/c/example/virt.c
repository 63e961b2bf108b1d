/* QEMU's RISC-V machine `virt`: from reset to main, its 16550 serial port, exit through its test device. */
#include "board.h"

#define UART ((volatile uint8_t *)0x10000000u)
#define UART_STATE 5
#define TRANSMIT_EMPTY 0x20u
#define TEST ((volatile uint32_t *)0x00100000u)

extern uint32_t bss_start, bss_end;

int main(void);

_Noreturn void start(void);

/* The first of the image. Variables with a value lie where they are loaded. */
__asm__(".section .text.reset\n\t"
        ".global reset\n"
        "reset:\n\t"
        "la sp, stack_top\n\t"
        "la t0, trap\n\t"
        ".option push\n\t"
        ".option arch, +zicsr\n\t"
        "csrw mtvec, t0\n\t"
        ".option pop\n\t"
        "j start\n\t"
        ".balign 4\n"
        "trap:\n\t"
        "li a0, 100\n\t"
        "j board_exit\n\t"
        ".text");

_Noreturn void start(void)
{
    for (uint32_t *to = &bss_start; to < &bss_end;) {
        *to++ = 0;
    }
    board_exit(main());
}

void board_start(void)
{
}

void board_write(const char *text)
{
    for (; *text != '\0'; text++) {
        while ((UART[UART_STATE] & TRANSMIT_EMPTY) == 0) {
        }
        UART[0] = (uint8_t)*text;
    }
}

void board_write_hex(uint32_t number)
{
    char digits[9];
    for (int i = 0; i < 8; i++) {
        digits[i] = "0123456789abcdef"[number >> (28 - 4 * i) & 15u];
    }
    digits[8] = '\0';
    board_write(digits);
}

_Noreturn void board_exit(int code)
{
    *TEST = code == 0 ? 0x5555u : (uint32_t)code << 16 | 0x3333u;
    for (;;) {
    }
}
