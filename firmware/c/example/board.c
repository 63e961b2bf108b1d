/* Arm MPS2+ with the AN386 image: CMSDK UART 0 at 25 MHz, exit through semihosting. */
#include "board.h"

/* The UART of Arm's Cortex-M System Design Kit, DDI 0479, chapter 4. */
struct uart {
    volatile uint32_t data;
    volatile uint32_t state;
    volatile uint32_t control;
    volatile uint32_t interrupt;
    volatile uint32_t baud_divisor;
};

#define UART0 ((struct uart *)0x40004000u)
#define TRANSMIT_FULL 1u
#define TRANSMIT_ENABLE 1u

void board_start(void)
{
    UART0->baud_divisor = 25000000u / 115200u;
    UART0->control = TRANSMIT_ENABLE;
}

void board_write(const char *text)
{
    for (; *text != '\0'; text++) {
        while ((UART0->state & TRANSMIT_FULL) != 0) {
        }
        UART0->data = (uint8_t)*text;
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
    /* SYS_EXIT_EXTENDED with ADP_Stopped_ApplicationExit and the code. */
    const uint32_t block[2] = {0x20026u, (uint32_t)code};
    register uint32_t operation __asm__("r0") = 0x20u;
    register const uint32_t *argument __asm__("r1") = block;
    __asm__ volatile("bkpt 0xab" : "+r"(operation) : "r"(argument) : "memory");
    for (;;) {
    }
}
