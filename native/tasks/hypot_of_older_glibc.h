// Links hypot to its version of before glibc 2.35, so that the libraries also load where glibc is older: packages are
// for 2.34 on. Both versions compute the same; the newer one only leaves errno alone.
#pragma once
#include <features.h>

#if defined(__GLIBC__) && defined(__x86_64__)
__asm__(".symver hypot, hypot@GLIBC_2.2.5\n.symver hypotf, hypotf@GLIBC_2.2.5");
#elif defined(__GLIBC__) && defined(__aarch64__)
__asm__(".symver hypot, hypot@GLIBC_2.17\n.symver hypotf, hypotf@GLIBC_2.17");
#endif
