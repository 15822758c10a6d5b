// SPDX-License-Identifier: MIT
/*
 * use.cpp - the library from C++
 *
 * Calls what a program calls, and hands over hooks and a compressor, so that
 * every struct and every inline function of the headers is C++ as well.
 */
#include <zswap/compressor.h>
#include <zswap/zsmalloc.h>
#include <zswap/zswap.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <type_traits>
#include <vector>

#define EXPECT(condition)                                               \
	do {                                                            \
		if (!(condition)) {                                     \
			std::fprintf(stderr, "line %d: %s\n", __LINE__, \
				     #condition);                       \
			return 1;                                       \
		}                                                       \
	} while (0)

static_assert(std::is_standard_layout<zswap_stats>::value, "plain struct");
static_assert(std::is_standard_layout<struct zs_class_stats>::value, "plain");
static_assert(std::is_trivially_copyable<zswap_slot_t>::value, "plain value");
static_assert(sizeof(zswap_slot_t) == 8, "a slot is its 64 bits");

namespace
{

/* Copies: every page is kept raw, which is all this program needs. */
int copy(void *, void *, zswap_comp_request *req)
{
	for (uint32_t i = 0; i < req->nr_segments; i++) {
		struct zswap_comp_segment *seg = zswap_comp_segment_at(req, i);

		std::memcpy(seg->dst, seg->src, seg->src_len);
		seg->result = static_cast<int32_t>(seg->src_len);
	}
	return 0;
}

void *hook_alloc(void *ctx, size_t bytes, size_t align)
{
	void *ptr = nullptr;

	++*static_cast<int *>(ctx);
	if (align < sizeof(void *))
		align = sizeof(void *);
	return posix_memalign(&ptr, align, bytes) ? nullptr : ptr;
}

void hook_free(void *ctx, void *ptr, size_t, size_t)
{
	--*static_cast<int *>(ctx);
	std::free(ptr);
}

int use(zswap *z)
{
	const size_t size = zswap_page_size(z);
	std::vector<char> in(3 * size), out(3 * size);
	zswap_folio folio{};
	zswap_stats stats{};
	zswap_slot_t slot = zswap_slot(1, 0);

	for (size_t i = 0; i < in.size(); i++)
		in[i] = static_cast<char>(i % 251);
	EXPECT(zswap_swapon(z, 1, 1 << 20) == 0);
	EXPECT(zswap_store(z, zswap_slot(1, 7), in.data()) == 0);
	EXPECT(zswap_peek(z, zswap_slot(1, 7), out.data()) == 0);
	EXPECT(std::memcmp(in.data(), out.data(), size) == 0);
	EXPECT(zswap_next_present(z, &slot));
	EXPECT(zswap_slot_offset(slot) == 7 && zswap_slot_type(slot) == 1);
	folio.size = sizeof(folio);
	folio.slot = zswap_slot(1, 510);
	folio.nr_pages = 3;
	folio.data = in.data();
	EXPECT(zswap_store_folio(z, &folio) == 0);
	folio.data = out.data();
	EXPECT(zswap_load_folio(z, &folio, ZSWAP_LOAD_PARTIAL) == 3);
	EXPECT(in == out);
	stats.size = sizeof(stats);
	EXPECT(zswap_get_stats(z, &stats) == 0 && stats.stored_pages == 1);
	EXPECT(zswap_format_stats(z, ZSWAP_STATS_TEXT, nullptr, 0) > 0);
	EXPECT(zswap_query(z, zswap_slot(1, 7)) != ZSWAP_ABSENT);
	zswap_invalidate(z, zswap_slot(1, 0), 1 << 20);
	EXPECT(!zswap_is_present(z, zswap_slot(1, 0), 1 << 20));
	EXPECT(zswap_set_enabled(z, false) == 0);
	EXPECT(zswap_store(z, zswap_slot(1, 7), in.data()) == -EPERM);
	EXPECT(zswap_swapoff(z, 1) == 0);
	return 0;
}

int use_allocator(const zswap_hooks *hooks)
{
	struct zs_class_stats class_stats {
	};
	struct zs_pool_stats stats {
	};
	zs_pool_params params{};
	zs_pool *pool;
	zs_handle handle;

	params.size = sizeof(params);
	params.class_choice = ZSWAP_CLASSES_ADAPTIVE;
	params.hooks = hooks;
	EXPECT(zs_create_pool(&pool, &params) == 0);
	EXPECT(zs_malloc(pool, 6, &handle) == 0);
	EXPECT(zs_obj_write(pool, handle, "bytes", 6) == 0);
	EXPECT(zs_obj_bytes(pool, handle) == 6);
	EXPECT(std::memcmp(zs_obj_read_begin(pool, handle), "bytes", 6) == 0);
	zs_obj_read_end(pool, handle);
	stats.size = sizeof(stats);
	EXPECT(zs_pool_stats(pool, &stats) == 0 && stats.objects == 1);
	class_stats.size = sizeof(class_stats);
	EXPECT(zs_class_stats(pool, 0, &class_stats) == 0);
	EXPECT(zs_lookup_class_index(pool, 14) == class_stats.index);
	EXPECT(zs_huge_class_size(pool) > zs_obj_bytes(pool, handle));
	EXPECT(zs_get_total_pages(pool) == stats.pages_used);
	EXPECT(zs_compact(pool) == 0);
	zs_free(pool, handle);
	zs_destroy_pool(pool);
	return 0;
}

} // namespace

int main()
{
	zswap_compressor copier{};
	const zswap_compressor *list[] = { &copier };
	zswap_params params{};
	zswap_hooks hooks{};
	zswap *z;
	int blocks = 0;

	EXPECT(zswap_create(&z, nullptr) == 0);
	EXPECT(use(z) == 0);
	zswap_destroy(z);

	copier.size = sizeof(copier);
	copier.name = "copy";
	copier.compress = copy;
	copier.decompress = copy;
	hooks.size = sizeof(hooks);
	hooks.ctx = &blocks;
	hooks.alloc = hook_alloc;
	hooks.free = hook_free;
	params.size = sizeof(params);
	params.page_size = 16384;
	params.compressor = "copy";
	params.compressors = list;
	params.nr_compressors = 1;
	params.hooks = &hooks;
	EXPECT(zswap_create(&z, &params) == 0);
	EXPECT(blocks > 0);
	EXPECT(use(z) == 0);
	zswap_destroy(z);
	EXPECT(use_allocator(nullptr) == 0);
	EXPECT(use_allocator(&hooks) == 0);
	EXPECT(blocks == 0);
	return 0;
}
