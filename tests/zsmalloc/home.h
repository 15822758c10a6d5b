/* SPDX-License-Identifier: MIT */
/*
 * home.h - a pool for each case, and what the cases ask of it
 *
 * Its memory comes from accounting hooks, in which nothing may be left once the
 * case is over and the pool destroyed. A case that needs other parameters makes
 * a pool in its place.
 */
#ifndef TEST_HOME_H
#define TEST_HOME_H

#include "fixture.h" /* children, accounting hooks */
#include "objects.h"

struct home {
	struct faulty hooks;
	struct zs_pool_params params; /* what the pool was made with */
	struct zs_pool *pool;
};

int home_setup(void **state);
int home_teardown(void **state);

/* For main(): 0, or 1 when cases failed. A hang ends the program. */
int home_run(const char *program, const struct CMUnitTest *cases, size_t nr);

#define HOME_CASE(function) \
	cmocka_unit_test_setup_teardown(function, home_setup, home_teardown)

/* Destroys the pool, and makes one with the parameters as they are now. */
void home_again(struct home *h);
/* Likewise, with these. */
void home_with(struct home *h, size_t page_size, uint32_t chain_size);

/* ---- figures ------------------------------------------------------------- */

struct zs_pool_stats pool_stats(struct zs_pool *pool);

/* False behind the last class. */
bool next_class(struct zs_pool *pool, unsigned nth, struct zs_class_stats *out);

/* The class of a payload, where the choice is exact. */
struct zs_class_stats class_of(struct zs_pool *pool, size_t bytes);

/* The largest payload of a class. */
size_t largest_payload(const struct zs_class_stats *class);

/* Pages of as many zspages as the objects need; class by class, and of all. */
uint64_t pages_needed_in(const struct zs_class_stats *class);
uint64_t pages_needed(struct zs_pool *pool);

/* That the figures of classes, pool and hooks say the same. */
void assert_sums_agree(struct home *h);

/* Where an object lies now. */
const char *address_of(struct zs_pool *pool, zs_handle handle);

/* ---- many objects -------------------------------------------------------- */

/* All of one size, and no two alike. */
void make_objects(struct zs_pool *pool, struct object *objects, size_t nr,
		  size_t bytes);
void check_objects(struct zs_pool *pool, const struct object *objects,
		   size_t nr);
void end_objects(struct zs_pool *pool, struct object *objects, size_t nr);

/* An array of none, for free(). */
struct object *no_objects(size_t nr);

#endif
