// SPDX-License-Identifier: MIT
#include "zs_priv.h"

static_assert(UINT64_C(1) << (64 - ZS_PLACE_BITS) >= ZS_MAX_CLASSES,
	      "a class must fit a place");
static_assert(ZS_NR_GROUPS <= 16, "groups must fit nonempty");
static_assert(ZS_MAX_CHAIN <= SPAN_MAX_RUN, "a zspage must fit a run");

/* ---- fullness ------------------------------------------------------------ */

void zs_list_zspage(struct zs_class *class, struct zspage *zspage)
{
	lock_assert_held(&class->lock);
	list_add(&zspage->node, &class->groups[zspage->group]);
	class->nonempty |= (uint16_t)(1u << zspage->group);
}

void zs_unlist_zspage(struct zs_class *class, struct zspage *zspage)
{
	lock_assert_held(&class->lock);
	list_del(&zspage->node);
	if (list_empty(&class->groups[zspage->group]))
		class->nonempty &= (uint16_t) ~(1u << zspage->group);
}

/* By steps from the group it had: mostly one, or none. */
static unsigned group_of(const struct zspage *zspage)
{
	const uint16_t *first_used = zspage->class->first_used;
	unsigned group = zspage->group;

	while (zspage->in_use >= first_used[group + 1])
		group++;
	while (zspage->in_use < first_used[group])
		group--;
	return group;
}

void zs_set_group(struct zspage *zspage)
{
	zspage->group = (uint8_t)group_of(zspage);
}

void zs_regroup(struct zs_class *class, struct zspage *zspage)
{
	unsigned group = group_of(zspage);

	if (group == zspage->group)
		return;
	zs_unlist_zspage(class, zspage);
	zspage->group = (uint8_t)group;
	zs_list_zspage(class, zspage);
}

static bool has_free_place(const struct zs_class *class)
{
	return class->nonempty & ~(1u << ZS_FULL);
}

void zs_note_lender(struct zs_arena *arena, struct zs_class *class)
{
	uint64_t bit = UINT64_C(1) << class->number % 64;
	_Atomic uint64_t *word = &arena->lenders[class->number / 64];

	lock_assert_held(&class->lock);
	if (!arena->choice || class->lends == has_free_place(class))
		return;
	class->lends = !class->lends;
	atomic_fetch_xor_explicit(word, bit, memory_order_relaxed);
}

/* ---- zspages ------------------------------------------------------------- */

/*
 * Builds an empty zspage, on no list: 0, or what span_alloc() says. Called
 * without the class's lock.
 */
static int new_zspage(struct zs_arena *arena, struct zs_class *class,
		      struct zspage **out)
{
	struct zspage *zspage = slab_alloc(&arena->zspages);
	void *run;
	int err;

	if (!zspage)
		return -ENOMEM;
	err = span_alloc(&arena->span, class->size.pages, zspage, &run);
	if (err) {
		slab_free(&arena->zspages, zspage);
		return err;
	}
	poison_forbid(run, class->size.pages * arena->span.granule_bytes);
	zspage->base = run;
	zspage->huge_cell = NULL;
	zspage->class = class;
	zspage->first_free = ZS_NO_OBJECT;
	zspage->fresh = 0;
	zspage->in_use = 0;
	zspage->next_moved = 0;
	zspage->group = 0;
	*out = zspage;
	return 0;
}

void zs_retire_zspage(struct zs_class *class, struct zspage *zspage)
{
	zswap_assert(!zspage->in_use);
	zs_unlist_zspage(class, zspage);
	class->allocated -= class->size.objects;
}

void zs_free_zspage(struct zs_arena *arena, struct zspage *zspage)
{
	span_free(&arena->span, zspage->base, zspage->class->size.pages);
	slab_free(&arena->zspages, zspage);
}

/* Finds or adds a zspage; the lock is dropped and taken again meanwhile. */
static int grow_class(struct zs_arena *arena, struct zs_class *class,
		      struct zspage **out)
{
	int err;

	lock_give(&class->lock);
	err = new_zspage(arena, class, out);
	lock_take(&class->lock);
	if (err) { /* another thread may have freed or made one */
		*out = zs_fullest(class);
		return *out ? 0 : err;
	}
	zs_list_zspage(class, *out);
	class->allocated += class->size.objects;
	return 0;
}

/* ---- objects ------------------------------------------------------------- */

static void write_word(char *at, uint64_t word)
{
	memcpy(at, &word, sizeof(word));
}

char *zs_take_object(struct zspage *zspage)
{
	char *object;

	if (zspage->first_free != ZS_NO_OBJECT) {
		object = zspage->base + zspage->first_free;
		if (!zspage->class->huge)
			zspage->first_free =
				(uint32_t)(zs_read_word(object) >> 1);
		else
			zspage->first_free = ZS_NO_OBJECT;
	} else {
		object = zspage->base + zspage->fresh;
		zspage->fresh += zspage->class->size.bytes;
	}
	zspage->in_use++;
	return object;
}

void zs_put_object(struct zs_arena *arena, struct zspage *zspage, char *object,
		   size_t bytes)
{
	struct zs_class *class = zspage->class;

	if (arena->params.wipe)
		memset(object + zs_header_bytes(class), 0, bytes);
	if (!class->huge) {
		zswap_assert(zs_read_word(object) & ZS_ALLOCATED);
		write_word(object, (uint64_t)zspage->first_free << 1);
	} else {
		zspage->huge_cell = NULL;
	}
	poison_forbid(object, class->size.bytes);
	zspage->first_free = (uint32_t)(object - zspage->base);
	zspage->in_use--;
}

void zs_open_object(struct zspage *zspage, char *object, zs_cell *cell,
		    size_t bytes)
{
	struct zs_class *class = zspage->class;

	poison_allow_undefined(object, zs_header_bytes(class) + bytes);
	if (!class->huge)
		write_word(object, (uintptr_t)cell | ZS_ALLOCATED);
	else
		zspage->huge_cell = cell;
}

zs_cell *zs_cell_of(const struct zspage *zspage, char *object)
{
	uint64_t word;

	if (zspage->class->huge)
		return zspage->huge_cell;
	word = zs_read_word(object);
	if (!(word & ZS_ALLOCATED))
		return NULL;
	return (zs_cell *)(uintptr_t)(word & ~ZS_ALLOCATED);
}

/* ---- which class --------------------------------------------------------- */

/* The first class from `from` on that may have a free place. */
static unsigned next_lender(struct zs_arena *arena, unsigned from)
{
	while (from < arena->table.nr_classes) {
		uint64_t word = atomic_load_explicit(&arena->lenders[from / 64],
						     memory_order_relaxed) >>
				from % 64;

		if (word)
			return from + (unsigned)__builtin_ctzll(word);
		from = (from / 64 + 1) * 64;
	}
	return from;
}

/* Takes the lock of a class that has a free place; false if it has none. */
static bool enter_class(struct zs_class *class)
{
	lock_take(&class->lock);
	if (has_free_place(class))
		return true;
	lock_give(&class->lock);
	return false;
}

/*
 * Finds the class in which a request goes, and takes its lock: the one chosen
 * last, the one chosen now, or one that lends, if they have a free place;
 * otherwise the one chosen now, which then needs a zspage more.
 */
static struct zs_class *enter_adaptive(struct zs_arena *arena, unsigned raw)
{
	struct zs_class *class =
		&arena->classes[zs_choice_last(arena->choice, raw)];
	struct zs_chosen chosen;
	unsigned from;

	if (likely(enter_class(class)))
		return class;
	chosen = zs_choose(arena->choice, raw);
	class = &arena->classes[chosen.class];
	if (enter_class(class))
		return class;
	from = zs_first_class(&arena->table, raw);
	while ((from = next_lender(arena, from)) < arena->table.nr_classes &&
	       arena->classes[from].size.bytes <= chosen.lend_bytes) {
		if (enter_class(&arena->classes[from]))
			return &arena->classes[from];
		from++;
	}
	lock_take(&class->lock);
	return class;
}

static struct zs_class *enter_exact(struct zs_arena *arena, unsigned raw)
{
	struct zs_class *class =
		&arena->classes[zs_exact_class(&arena->table, raw)];

	lock_take(&class->lock);
	return class;
}

int zs_alloc_object(struct zs_arena *arena, size_t bytes, zs_cell *cell)
{
	struct zs_class *class;
	struct zspage *zspage;
	unsigned raw;
	int err = 0;

	if (!bytes)
		return -EINVAL;
	if (bytes > arena->table.page_bytes)
		return -ENOSPC;
	raw = zs_raw_of_request(&arena->table, bytes);
	class = arena->choice ? enter_adaptive(arena, raw) :
				enter_exact(arena, raw);
	zspage = zs_fullest(class);
	if (!zspage)
		err = grow_class(arena, class, &zspage);
	if (!err) {
		char *object = zs_take_object(zspage);

		zs_open_object(zspage, object, cell, bytes);
		atomic_store_explicit(cell, zs_place_of(class, object),
				      memory_order_relaxed);
		class->in_use++;
		zs_regroup(class, zspage);
		if (arena->choice)
			zs_choice_count(arena->choice, raw, 1);
	}
	zs_note_lender(arena, class);
	lock_give(&class->lock);
	return err;
}

void zs_free_object(struct zs_arena *arena, zs_cell *cell, size_t bytes)
{
	struct zs_class *class =
		&arena->classes[zs_place_class(zs_place(cell))];
	struct zspage *zspage, *emptied = NULL;
	char *object;

	lock_take(&class->lock);
	object = (char *)zs_payload(cell) - zs_header_bytes(class);
	zspage = span_owner(&arena->span, object);
	zswap_assert(zspage && zspage->class == class && zspage->in_use &&
		     zs_cell_of(zspage, object) == cell &&
		     zs_header_bytes(class) + bytes <= class->size.bytes);
	zswap_assert(arena->choice ||
		     zs_class_of_request(&arena->table, bytes) ==
			     class->number);
	zs_put_object(arena, zspage, object, bytes);
	class->in_use--;
	if (!zspage->in_use) {
		zs_retire_zspage(class, zspage);
	} else {
		zs_regroup(class, zspage);
		zspage = NULL;
	}
	if (arena->params.auto_compact && zs_is_loose(class))
		emptied = zs_compact_step(arena, class);
	zs_note_lender(arena, class);
	lock_give(&class->lock);
	if (arena->choice)
		zs_choice_count(arena->choice,
				zs_raw_of_request(&arena->table, bytes),
				UINT32_MAX);
	if (zspage)
		zs_free_zspage(arena, zspage);
	if (emptied)
		zs_free_zspage(arena, emptied);
}

/* ---- figures ------------------------------------------------------------- */

static size_t freeable_pages(const struct zs_class *class)
{
	return zs_freeable(class) * class->size.pages;
}

void zs_class_figures(struct zs_arena *arena, unsigned nr,
		      struct zs_class_figures *out)
{
	struct zs_class *class = &arena->classes[nr];
	struct list *pos;

	*out = (struct zs_class_figures){ .size = class->size };
	lock_take(&class->lock);
	out->allocated = class->allocated;
	out->in_use = class->in_use;
	out->freeable_pages = freeable_pages(class);
	for (unsigned g = 0; g < ZS_NR_GROUPS; g++)
		list_for_each(pos, &class->groups[g])
			out->zspages[g]++;
	lock_give(&class->lock);
}

void zs_arena_figures(struct zs_arena *arena, struct zs_arena_figures *out)
{
	*out = (struct zs_arena_figures){ 0, 0 };
	for (unsigned i = 0; i < arena->table.nr_classes; i++) {
		struct zs_class *class = &arena->classes[i];

		lock_take(&class->lock);
		out->in_use += class->in_use;
		out->freeable_pages += freeable_pages(class);
		lock_give(&class->lock);
	}
}

/* ---- the arena ----------------------------------------------------------- */

static size_t classes_bytes(const struct zs_arena *arena)
{
	return arena->table.nr_classes * sizeof(struct zs_class);
}

static void init_class(struct zs_class *class, uint16_t number,
		       struct zs_class_size size)
{
	class->number = number;
	class->size = size;
	class->huge = size.pages == 1 && size.objects == 1;
	class->first_used[ZS_NR_GROUPS] = UINT16_MAX;
	for (unsigned g = ZS_NR_GROUPS, used = size.objects; g--;) {
		while (used && zs_fullness(used - 1, size.objects) >= g)
			used--;
		class->first_used[g] = (uint16_t)used;
		list_init(&class->groups[g]);
	}
}

int zs_arena_create(struct mem *mem, const struct zs_params *params,
		    struct zs_arena **out)
{
	struct zs_arena *arena;

	*out = NULL;
	arena = mem_zalloc(mem, sizeof(*arena), CACHE_LINE);
	if (!arena)
		return -ENOMEM;
	arena->mem = mem;
	arena->params = *params;
	zs_class_table_init(&arena->table, params->page_bytes, params->chain,
			    params->adaptive);
	span_init(&arena->span, mem, params->page_bytes);
	slab_cache_init(&arena->zspages, mem,
			round_up(sizeof(struct zspage), 16));
	arena->classes = mem_zalloc(mem, classes_bytes(arena), CACHE_LINE);
	if (!arena->classes)
		goto fail;
	for (unsigned i = 0; i < arena->table.nr_classes; i++)
		init_class(&arena->classes[i], (uint16_t)i,
			   arena->table.classes[i]);
	if (params->adaptive) {
		arena->choice = mem_zalloc(mem, sizeof(*arena->choice),
					   alignof(struct zs_choice));
		if (!arena->choice)
			goto fail;
		zs_choice_init(arena->choice, &arena->table);
	}
	*out = arena;
	return 0;
fail:
	zs_arena_destroy(arena); /* accepts a half-built arena */
	return -ENOMEM;
}

/* A map hook may keep the memory for other uses. */
static void wipe_class(struct zs_class *class)
{
	size_t bytes = (size_t) class->size.bytes * class->size.objects;
	struct list *pos;

	for (unsigned g = 0; g < ZS_NR_GROUPS; g++)
		list_for_each(pos, &class->groups[g]) {
			char *base = list_entry(pos, struct zspage, node)->base;

			poison_allow_undefined(base, bytes);
			memset(base, 0, bytes);
		}
}

void zs_arena_destroy(struct zs_arena *arena)
{
	if (!arena)
		return;
	for (unsigned i = 0; arena->params.wipe && arena->classes &&
			     i < arena->table.nr_classes;
	     i++)
		wipe_class(&arena->classes[i]);
	span_exit(&arena->span);
	slab_cache_exit(&arena->zspages);
	mem_free(arena->mem, arena->choice, sizeof(*arena->choice),
		 alignof(struct zs_choice));
	mem_free(arena->mem, arena->classes, classes_bytes(arena), CACHE_LINE);
	mem_free(arena->mem, arena, sizeof(*arena), CACHE_LINE);
}

/* ---- check --------------------------------------------------------------- */

static bool object_check(struct zspage *zspage, uint32_t offset)
{
	char *object = zspage->base + offset;
	zs_cell *cell = zs_cell_of(zspage, object);

	return cell && atomic_load(cell) == zs_place_of(zspage->class, object);
}

static bool zspage_check(struct zs_arena *arena, struct zspage *zspage)
{
	struct zs_class *class = zspage->class;
	uint32_t size = class->size.bytes, offset = zspage->first_free;
	uint32_t end = size * class->size.objects;
	unsigned listed = 0, allocated = 0;

	while (offset != ZS_NO_OBJECT) {
		if (offset >= zspage->fresh || offset % size ||
		    ++listed > class->size.objects)
			return false;
		offset = class->huge ? ZS_NO_OBJECT :
				       (uint32_t)(zs_read_word(zspage->base +
							       offset) >>
						  1);
	}
	for (offset = 0; offset < zspage->fresh; offset += size)
		allocated += object_check(zspage, offset);
	return allocated == zspage->in_use &&
	       zspage->in_use + listed + (end - zspage->fresh) / size ==
		       class->size.objects &&
	       zspage->next_moved < class->size.objects &&
	       zspage->group ==
		       zs_fullness(zspage->in_use, class->size.objects) &&
	       span_owner(&arena->span, zspage->base) == zspage;
}

static bool lends(struct zs_arena *arena, struct zs_class *class)
{
	return atomic_load(&arena->lenders[class->number / 64]) >>
		       class->number % 64 &
	       1;
}

static bool class_check(struct zs_arena *arena, struct zs_class *class,
			size_t *pages, size_t *nr_zspages)
{
	size_t in_use = 0, allocated = 0;
	struct list *pos;

	for (unsigned g = 0; g < ZS_NR_GROUPS; g++) {
		if (list_empty(&class->groups[g]) == (class->nonempty >> g & 1))
			return false;
		list_for_each(pos, &class->groups[g]) {
			struct zspage *zspage =
				list_entry(pos, struct zspage, node);

			if (zspage->group != g || zspage->class != class ||
			    !zspage_check(arena, zspage))
				return false;
			in_use += zspage->in_use;
			allocated += class->size.objects;
			*pages += class->size.pages;
			++*nr_zspages;
		}
	}
	return in_use == class->in_use && allocated == class->allocated &&
	       lends(arena, class) == class->lends &&
	       class->lends == (arena->choice && has_free_place(class));
}

bool zs_arena_check(struct zs_arena *arena)
{
	size_t pages = 0, nr_zspages = 0;

	for (unsigned i = 0; i < arena->table.nr_classes; i++)
		if (!class_check(arena, &arena->classes[i], &pages,
				 &nr_zspages))
			return false;
	return pages == zs_arena_pages(arena) &&
	       nr_zspages == slab_nr_objects(&arena->zspages) &&
	       span_check(&arena->span) && slab_cache_check(&arena->zspages);
}
