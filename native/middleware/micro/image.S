/* SPDX-License-Identifier: Apache-2.0
 * The library that each participant loads a copy of (participant.cpp). */
        .section .rodata
        .balign 8
        .globl micro_node_image
        .hidden micro_node_image
micro_node_image:
        .incbin MICRO_NODE_IMAGE
        .globl micro_node_image_end
        .hidden micro_node_image_end
micro_node_image_end:
        .section .note.GNU-stack, "", %progbits
