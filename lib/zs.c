// SPDX-License-Identifier: MIT
#include "zs_priv.h"

#include "poison.h"

#include <string.h>

/* ---- fullness ------------------------------------------------------------ */

static void list_zspage(struct zs_class *class, struct zspage *zspage)
{
	lock_assert_held(&class->lock);
	list_add(&zspage->node, &class->groups[zspage->group]);
	class->nonempty |= (uint16_t)(1u << zspage->group);
}

static void unlist_zspage(struct zs_class *class, struct zspage *zspage)
{
	lock_assert_held(&class->lock);
	list_del(&zspage->node);
	if (list_empty(&class->groups[zspage->group]))
		class->nonempty &= (uint16_t) ~(1u << zspage->group);
}

/*
 * Finds the group and the numbers of objects that share it, so that the next
 * calls can tell that nothing changes without a division.
 */
static void set_group(struct zspage *zspage)
{
	unsigned objects = zspage->class->size.objects;
	unsigned used = zspage->in_use;
	unsigned group = zs_fullness(used, objects);
	unsigned low = used, high = used;

	if (group > 0 && group < ZS_FULL) {
		/* group - 1 tenths, rounded up, to the next tenth's start. */
		low = (10 * (group - 1) * objects + 99) / 100;
		high = (10 * group * objects + 99) / 100 - 1;
		if (!low)
			low = 1;
		if (high > objects - 1)
			high = objects - 1;
	}
	zspage->group = (uint8_t)group;
	zspage->low = (uint16_t)low;
	zspage->high = (uint16_t)high;
}

static void regroup(struct zs_class *class, struct zspage *zspage)
{
	if (likely(zspage->in_use >= zspage->low &&
		   zspage->in_use <= zspage->high))
		return;
	unlist_zspage(class, zspage);
	set_group(zspage);
	list_zspage(class, zspage);
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
	set_group(zspage);
	*out = zspage;
	return 0;
}

/* Called without the class's lock, when the zspage is on no list any more. */
static void free_zspage(struct zs_arena *arena, struct zspage *zspage)
{
	span_free(&arena->span, zspage->base, zspage->class->size.pages);
	slab_free(&arena->zspages, zspage);
}

/* The fullest zspage that is not full, or NULL. */
static struct zspage *pick_zspage(struct zs_class *class)
{
	unsigned candidates = class->nonempty & ~(1u << ZS_FULL);
	unsigned group;

	if (!candidates)
		return NULL;
	group = 31 - (unsigned)__builtin_clz(candidates);
	return list_entry(class->groups[group].next, struct zspage, node);
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
		*out = pick_zspage(class);
		return *out ? 0 : err;
	}
	list_zspage(class, *out);
	class->allocated += class->size.objects;
	return 0;
}

/* ---- objects ------------------------------------------------------------- */

/* An object's first word, be it in use or free. */
static uint64_t read_word(char *at)
{
	uint64_t word;

	poison_read(&word, at, sizeof(word));
	return word;
}

static void write_word(char *at, uint64_t word)
{
	memcpy(at, &word, sizeof(word));
}

static char *take_object(struct zspage *zspage)
{
	char *object;

	if (zspage->first_free != ZS_NO_OBJECT) {
		object = zspage->base + zspage->first_free;
		if (!zspage->class->huge)
			zspage->first_free = (uint32_t)(read_word(object) >> 1);
		else
			zspage->first_free = ZS_NO_OBJECT;
	} else {
		object = zspage->base + zspage->fresh;
		zspage->fresh += zspage->class->size.bytes;
	}
	zspage->in_use++;
	return object;
}

static void put_object(struct zspage *zspage, char *object)
{
	if (!zspage->class->huge) {
		zswap_assert(read_word(object) & ZS_ALLOCATED);
		write_word(object, (uint64_t)zspage->first_free << 1);
	} else {
		zspage->huge_cell = NULL;
	}
	poison_forbid(object, zspage->class->size.bytes);
	zspage->first_free = (uint32_t)(object - zspage->base);
	zspage->in_use--;
}

/* The header and the payload, not what lies behind. */
static void allow_object(const struct zspage *zspage, char *object,
			 size_t bytes)
{
	if (!zspage->class->huge)
		bytes += ZS_HEADER_BYTES;
	poison_allow_undefined(object, bytes);
}

static void set_cell(struct zspage *zspage, char *object, zs_cell *cell)
{
	if (!zspage->class->huge)
		write_word(object, (uintptr_t)cell | ZS_ALLOCATED);
	else
		zspage->huge_cell = cell;
	atomic_store_explicit(cell, (uintptr_t)object, memory_order_relaxed);
}

int zs_alloc_object(struct zs_arena *arena, size_t bytes, zs_cell *cell)
{
	struct zs_class *class;
	struct zspage *zspage;
	char *object;
	int err = 0;

	if (!bytes)
		return -EINVAL;
	if (bytes > arena->table.page_bytes)
		return -ENOSPC;
	class = &arena->classes[zs_class_of_request(&arena->table, bytes)];
	lock_take(&class->lock);
	zspage = pick_zspage(class);
	if (!zspage)
		err = grow_class(arena, class, &zspage);
	if (!err) {
		object = take_object(zspage);
		allow_object(zspage, object, bytes);
		set_cell(zspage, object, cell);
		class->in_use++;
		regroup(class, zspage);
	}
	lock_give(&class->lock);
	return err;
}

void zs_free_object(struct zs_arena *arena, zs_cell *cell, size_t bytes)
{
	struct zs_class *class =
		&arena->classes[zs_class_of_request(&arena->table, bytes)];
	struct zspage *zspage;
	char *object;

	lock_take(&class->lock);
	object = (char *)(uintptr_t)atomic_load_explicit(cell,
							 memory_order_relaxed);
	zspage = span_owner(&arena->span, object);
	zswap_assert(zspage && zspage->class == class && zspage->in_use);
	put_object(zspage, object);
	class->in_use--;
	if (!zspage->in_use) {
		unlist_zspage(class, zspage);
		class->allocated -= class->size.objects;
	} else {
		regroup(class, zspage);
		zspage = NULL;
	}
	lock_give(&class->lock);
	if (zspage)
		free_zspage(arena, zspage);
}

/* ---- the arena ------------------------------------------------------------ */

static size_t classes_bytes(const struct zs_arena *arena)
{
	return arena->table.nr_classes * sizeof(struct zs_class);
}

static void init_class(struct zs_class *class, struct zs_class_size size)
{
	class->size = size;
	class->huge = size.pages == 1 && size.objects == 1;
	for (unsigned g = 0; g < ZS_NR_GROUPS; g++)
		list_init(&class->groups[g]);
}

int zs_arena_create(struct mem *mem, uint32_t page_bytes, uint32_t chain,
		    struct zs_arena **out)
{
	struct zs_arena *arena;

	*out = NULL;
	arena = mem_zalloc(mem, sizeof(*arena), CACHE_LINE);
	if (!arena)
		return -ENOMEM;
	arena->mem = mem;
	zs_class_table_init(&arena->table, page_bytes, chain);
	span_init(&arena->span, mem, page_bytes);
	slab_cache_init(&arena->zspages, mem,
			round_up(sizeof(struct zspage), 16));
	arena->classes = mem_zalloc(mem, classes_bytes(arena), CACHE_LINE);
	if (!arena->classes) {
		zs_arena_destroy(arena);
		return -ENOMEM;
	}
	for (unsigned i = 0; i < arena->table.nr_classes; i++)
		init_class(&arena->classes[i], arena->table.classes[i]);
	*out = arena;
	return 0;
}

void zs_arena_destroy(struct zs_arena *arena)
{
	if (!arena)
		return;
	span_exit(&arena->span);
	slab_cache_exit(&arena->zspages);
	mem_free(arena->mem, arena->classes, classes_bytes(arena), CACHE_LINE);
	mem_free(arena->mem, arena, sizeof(*arena), CACHE_LINE);
}

/* ---- check --------------------------------------------------------------- */

static bool object_check(struct zspage *zspage, uint32_t offset)
{
	uint64_t word = read_word(zspage->base + offset);
	zs_cell *cell;

	if (zspage->class->huge)
		cell = zspage->huge_cell;
	else if (word & ZS_ALLOCATED)
		cell = (zs_cell *)(uintptr_t)(word & ~ZS_ALLOCATED);
	else
		return false;
	return cell && atomic_load(cell) == (uintptr_t)zspage->base + offset;
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
		offset = class->huge ?
				 ZS_NO_OBJECT :
				 (uint32_t)(read_word(zspage->base + offset) >>
					    1);
	}
	for (offset = 0; offset < zspage->fresh; offset += size)
		allocated += object_check(zspage, offset);
	return allocated == zspage->in_use &&
	       zspage->in_use + listed + (end - zspage->fresh) / size ==
		       class->size.objects &&
	       zspage->group ==
		       zs_fullness(zspage->in_use, class->size.objects) &&
	       zspage->in_use >= zspage->low &&
	       zspage->in_use <= zspage->high &&
	       span_owner(&arena->span, zspage->base) == zspage;
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
	return in_use == class->in_use && allocated == class->allocated;
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
