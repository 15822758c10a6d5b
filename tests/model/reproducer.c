// SPDX-License-Identifier: MIT
/*
 * reproducer.c - a program that the model driver has printed
 *
 * reproduce.sh puts it in the build folder under this name, and builds this.
 */
#include "printed.c"
