/* SPDX-License-Identifier: Apache-2.0
 * STM32F407/F417/F427/F429 (RM0090) at 168 MHz from a crystal of 8 MHz, PHY on RMII. Pins as on ST's Nucleo-144 boards. */
#ifndef TACHO_MICRO_CHIP_H_
#define TACHO_MICRO_CHIP_H_

#define CPU_HZ 168000000u
#define ETHERNET_INTERRUPT 61

#define RCC 0x40023800u
#define FLASH_ACR 0x40023c00u
#define GPIO(letter) (0x40020000u + 0x400u * ((letter) - 'A'))
#define SYSCFG_PMC 0x40013804u
#define USART3 0x40004800u
#define RNG 0x50060800u
#define UNIQUE_ID 0x1fff7a10u
#define ETHERNET 0x40028000u

#endif /* TACHO_MICRO_CHIP_H_ */
