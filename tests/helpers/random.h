/* SPDX-License-Identifier: MIT */
/*
 * random.h - random numbers that can be had again
 *
 * One seed per process: ZSWAP_TEST_SEED, or a fixed default. Every generator
 * is a stream of that seed, so that threads draw independently of each other's
 * speed. Whoever fails calls random_print_seed().
 */
#ifndef TEST_RANDOM_H
#define TEST_RANDOM_H

#include <stddef.h>
#include <stdint.h>

struct rng {
	uint64_t s[4];
};

uint64_t random_seed(void);
void random_print_seed(void);

/* Equal streams give equal numbers. */
void rng_init(struct rng *rng, uint64_t stream);
uint64_t rng_next(struct rng *rng);

/* 0 .. n - 1; the bias of a 32-bit range in 64 bits does not matter here. */
uint32_t rng_below(struct rng *rng, uint32_t n);
void rng_fill(struct rng *rng, void *buf, size_t len);

/* A bijection that makes any two numbers look unrelated (splitmix64's end). */
uint64_t random_mix(uint64_t x);

#endif
