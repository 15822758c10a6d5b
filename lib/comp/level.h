/* SPDX-License-Identifier: MIT */
/*
 * level.h - the instance of a compressor whose only option is its level
 */
#ifndef ZSWAP_COMP_LEVEL_H
#define ZSWAP_COMP_LEVEL_H

#include "comp_builtin.h"

struct level_instance {
	const struct zswap_comp_env *env;
	int level;
};

static inline int level_create(const struct zswap_comp_env *env,
			       const char *options, void **out)
{
	struct level_instance *instance =
		env->alloc(env->ctx, sizeof(*instance));

	if (!instance)
		return -ENOMEM;
	instance->env = env;
	instance->level = spec_level(options);
	*out = instance;
	return 0;
}

static inline void level_destroy(void *arg)
{
	struct level_instance *instance = arg;

	instance->env->free(instance->env->ctx, instance, sizeof(*instance));
}

/* A context that is a block of memory and no more. */
static inline int level_alloc_ctx(const struct level_instance *instance,
				  size_t bytes, void **ctx)
{
	*ctx = instance->env->alloc(instance->env->ctx, bytes);
	return *ctx ? 0 : -ENOMEM;
}

static inline void level_free_ctx(const struct level_instance *instance,
				  void *ctx, size_t bytes)
{
	instance->env->free(instance->env->ctx, ctx, bytes);
}

#endif /* ZSWAP_COMP_LEVEL_H */
