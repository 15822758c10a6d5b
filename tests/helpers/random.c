// SPDX-License-Identifier: MIT
/*
 * random.c - random numbers that can be had again
 *
 * Origin: xoshiro256** and splitmix64 by David Blackman and Sebastiano Vigna.
 */
#include "random.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_SEED UINT64_C(20)

uint64_t random_seed(void)
{
	const char *text = getenv("ZSWAP_TEST_SEED");
	uint64_t seed = DEFAULT_SEED;
	char *end;

	if (!text)
		return seed;
	seed = strtoull(text, &end, 0);
	if (end == text || *end) {
		fprintf(stderr, "ZSWAP_TEST_SEED=%s: not a number\n", text);
		exit(2);
	}
	return seed;
}

void random_print_seed(void)
{
	fprintf(stderr, "ZSWAP_TEST_SEED=%" PRIu64 "\n", random_seed());
}

uint64_t random_mix(uint64_t x)
{
	x += UINT64_C(0x9e3779b97f4a7c15);
	x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
	return x ^ (x >> 31);
}

void rng_init(struct rng *rng, uint64_t stream)
{
	uint64_t x = random_mix(random_seed()) ^ stream;
	int i;

	for (i = 0; i < 4; i++)
		rng->s[i] = x = random_mix(x);
}

static uint64_t rotate_left(uint64_t x, int k)
{
	return (x << k) | (x >> (64 - k));
}

uint64_t rng_next(struct rng *rng)
{
	uint64_t *s = rng->s;
	uint64_t result = rotate_left(s[1] * 5, 7) * 9;
	uint64_t t = s[1] << 17;

	s[2] ^= s[0];
	s[3] ^= s[1];
	s[1] ^= s[2];
	s[0] ^= s[3];
	s[2] ^= t;
	s[3] = rotate_left(s[3], 45);
	return result;
}

uint32_t rng_below(struct rng *rng, uint32_t n)
{
	return (uint32_t)(((rng_next(rng) >> 32) * n) >> 32);
}

void rng_fill(struct rng *rng, void *buf, size_t len)
{
	unsigned char *p = buf;
	uint64_t x;

	for (; len >= sizeof(x); len -= sizeof(x), p += sizeof(x)) {
		x = rng_next(rng);
		memcpy(p, &x, sizeof(x));
	}
	x = rng_next(rng);
	memcpy(p, &x, len);
}
