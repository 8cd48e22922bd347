// Loops of k-merge and k-scale for a GPU: one thread a task. Compiled as plain C++ the same source does the same on a
// host, one thread after the other, and tests hold that to the compiled loops in merging.py and kscale.py.
//
// As there, boundary b lies after the first b samples in order of time, so that a run (i, j] holds samples i to j - 1.
// A person's samples stand at begin[person], as many as length[person]. What a thread notes on its way stands in
// columns that it shares with the other lanes of its group: entry e of a lane is at e * LANES + lane, so that lanes in
// step touch neighbouring words. Numbers must be those of the host to the last bit, so products and sums are not
// contracted (--fmad=false, -ffp-contract=off).

typedef long long wide;

#ifdef __CUDACC__
#define KERNEL extern "C" __global__ void
#define INNER __device__ __forceinline__
#define THREAD (wide(blockIdx.x) * blockDim.x + threadIdx.x)
#define THREADS (wide(gridDim.x) * blockDim.x)
#define SHARED __shared__
#else
#define KERNEL extern "C" void
#define INNER inline
static wide host_thread = 0, host_threads = 1;
KERNEL be_thread(wide thread, wide threads) { host_thread = thread, host_threads = threads; }
#define THREAD host_thread
#define THREADS host_threads
#define SHARED static
#endif

#define INFINITE 1.7976931348623157e308
#define NEVER 2147483647
#define DEEPEST 64
#define LANES 32

INNER double least(double a, double b) { return b < a ? b : a; }
INNER double most(double a, double b) { return b > a ? b : a; }
INNER int lower(int a, int b) { return b < a ? b : a; }
INNER int upper(int a, int b) { return b > a ? b : a; }
INNER double apart(double a, double b) { return a < b ? b - a : a - b; }

// ---- columns of notes ------------------------------------------------------------------------------------------

template <class T> struct Column {
    T *first;
    INNER T &operator[](wide entry) const { return first[entry * LANES]; }
};

// Where the notes of a group of lanes stand: all groups have as many entries, or each as many as it needs.
struct Region {
    wide begin, entries;
};

INNER Region alike(wide entries) {
    Region made = {THREAD / LANES * entries, entries};
    return made;
}

INNER Region between(const wide *bounds) {
    wide group = THREAD / LANES;
    Region made = {bounds[group], bounds[group + 1] - bounds[group]};
    return made;
}

// The nth of so many columns of one kind.
template <class T> INNER Column<T> column(T *notes, const Region &region, int columns, int nth) {
    Column<T> made = {notes + (region.begin * columns + nth * region.entries) * LANES + THREAD % LANES};
    return made;
}

struct alignas(16) Sample {
    int t, x, y;
    // Of a list: see List.
    int reach;
};

// Nothing is written to what is read this way while a loop runs.
INNER Sample read(const Sample *from, wide at) {
#ifdef __CUDACC__
    int4 four = __ldg(reinterpret_cast<const int4 *>(from + at));
    Sample made = {four.x, four.y, four.z, four.w};
    return made;
#else
    return from[at];
#endif
}

struct Samples {
    const Sample *at;
    const wide *begin;
    const int *length;
};

struct alignas(16) Box {
    int x0, x1, y0, y1;

    INNER void add(int x, int y) { x0 = lower(x0, x), x1 = upper(x1, x), y0 = lower(y0, y), y1 = upper(y1, y); }
    INNER void add(const Box &o) {
        x0 = lower(x0, o.x0), x1 = upper(x1, o.x1), y0 = lower(y0, o.y0), y1 = upper(y1, o.y1);
    }
    INNER int sides() const { return x1 - x0 + y1 - y0 + 2; }
};

INNER Box nothing() {
    Box made = {NEVER, -NEVER, NEVER, -NEVER};
    return made;
}

// Where a run may begin: at which boundary, when, and what is spent up to there.
struct alignas(16) Start {
    int at, t;
    double cost;
};

// What the programme notes at every sample and boundary of a merge. `samples` have the reach of the boundary after them.
struct Room {
    Column<Sample> samples;
    Column<Box> suffix, gaps;
    Column<Start> starts;
    Column<double> cost, own;
    Column<int> held, place, back;
};

// As many doubles and whole numbers beside them as the driver makes room for.
#define PLAIN 1, 0
#define OWNED 2, 2
#define BACKED 1, 2

INNER Room room_of(Box *fours, double *doubles, int *ints, const Region &region, int broken, int whole) {
    Room at;
    at.suffix = column(fours, region, 4, 0);
    at.gaps = column(fours, region, 4, 1);
    at.samples.first = reinterpret_cast<Sample *>(column(fours, region, 4, 2).first);
    at.starts.first = reinterpret_cast<Start *>(column(fours, region, 4, 3).first);
    at.cost = column(doubles, region, broken, 0);
    at.own = column(doubles, region, broken, broken - 1);
    at.held = column(ints, region, whole, 0);
    at.place = at.back = column(ints, region, whole, whole - 1);
    return at;
}

// ---- samples of several people, one after the other in time ------------------------------------------------------

// Sources give sample after sample, and say from where on everybody has one; NEVER is the time of none.
INNER Sample none() {
    Sample made = {NEVER, 0, 0, 0};
    return made;
}

struct Pair {
    Samples of;
    wide a, a_end, b, b_end;
    Sample next_a, next_b;
    int last_a, last_b;
    bool first;

    INNER void lay(const Samples &samples, wide one, wide other) {
        of = samples;
        a = of.begin[one], a_end = a + of.length[one];
        b = of.begin[other], b_end = b + of.length[other];
        next_a = read(of.at, a), next_b = read(of.at, b);
        last_a = last_b = -1;
    }
    INNER int size() const { return int(a_end - a + b_end - b); }
    INNER int time() const { return lower(next_a.t, next_b.t); }
    INNER bool own() const { return first; }
    INNER Sample take() {
        first = next_a.t <= next_b.t;
        Sample taken = first ? next_a : next_b;
        wide s = first ? ++a : ++b;
        Sample next = s < (first ? a_end : b_end) ? read(of.at, s) : none();
        if (first) {
            next_a = next;
        } else {
            next_b = next;
        }
        return taken;
    }
    INNER void mark(const Room &, int instant) { first ? last_a = instant : last_b = instant; }
    INNER int reach(const Room &) const { return lower(last_a, last_b); }
};

// Any number of people, where who comes next is found by a look at all of them.
struct Crowd {
    Samples of;
    Column<wide> at, end;
    Column<int> times, last;
    int members, total, next, next_time, least_last;

    INNER void begin(const Samples &samples, wide *wides, int *ints, wide most_members) {
        Region region = alike(most_members);
        of = samples;
        at = column(wides, region, 2, 0), end = column(wides, region, 2, 1);
        times = column(ints, region, 2, 0), last = column(ints, region, 2, 1);
        members = total = 0;
    }
    INNER void add(wide person) {
        wide first = of.begin[person];
        at[members] = first, end[members] = first + of.length[person];
        times[members] = read(of.at, first).t, last[members] = -1;
        total += of.length[person];
        members++;
    }
    INNER void look() {
        next_time = NEVER, least_last = NEVER, next = 0;
        for (int m = 0; m < members; m++) {
            int time = times[m];
            if (time < next_time) next_time = time, next = m;
            least_last = lower(least_last, last[m]);
        }
    }
    INNER Sample take(int instant) {
        wide s = at[next];
        at[next] = s + 1;
        times[next] = s + 1 < end[next] ? read(of.at, s + 1).t : NEVER;
        last[next] = instant;
        return read(of.at, s);
    }
};

// Lays several people's samples in order of time. Their `reach` is twice where the instant begins from which on there
// is a sample of everybody, counted from 1 (0: somebody has none yet), and 1 more where they are of the first person.
INNER void write_list(Crowd &all, Sample *list) {
    int instant = 0, now = 0;
    all.look();
    for (int n = 0; n < all.total; n++) {
        if (n == 0 || all.next_time != now) instant = n;
        now = all.next_time;
        bool own = all.next == 0;
        Sample taken = all.take(instant);
        all.look();
        taken.reach = 2 * (all.least_last + 1) + own;
        list[n] = taken;
    }
}

// A list alone.
struct Laid {
    const Sample *of;
    wide a, a_end;
    Sample next;
    int latest;

    INNER void lay(const Sample *list, wide first, wide end) { of = list, a = first, a_end = end, next = read(of, a); }
    INNER int size() const { return int(a_end - a); }
    INNER int time() const { return next.t; }
    INNER bool own() const { return latest % 2 == 1; }
    INNER Sample take() {
        Sample taken = next;
        latest = taken.reach;
        next = ++a < a_end ? read(of, a) : none();
        return taken;
    }
    INNER void mark(const Room &, int) {}
    INNER int reach(const Room &) const { return latest / 2 - 1; }
};

// A list and one more person, if any. At `place` stands where the instant of each sample of the list begins among all.
struct Joined {
    const Sample *list, *others;
    wide a, a_end, b, b_end;
    Sample next_a, next_b;
    int latest, last_b, taken_a;
    bool first;

    INNER void lay(const Sample *of, wide begin, wide end, const Samples &samples, wide other) {
        list = of, others = samples.at;
        a = begin, a_end = end, next_a = read(list, a);
        b = b_end = 0, next_b = none(), last_b = NEVER;
        if (other >= 0) {
            b = samples.begin[other], b_end = b + samples.length[other];
            next_b = read(others, b), last_b = -1;
        }
        latest = taken_a = 0;
    }
    INNER int size() const { return int(a_end - a + b_end - b); }
    INNER int time() const { return lower(next_a.t, next_b.t); }
    INNER bool own() const { return first && latest % 2 == 1; }
    INNER Sample take() {
        first = next_a.t <= next_b.t;
        Sample taken = first ? next_a : next_b;
        if (first) {
            latest = taken.reach;
            next_a = ++a < a_end ? read(list, a) : none();
        } else {
            next_b = ++b < b_end ? read(others, b) : none();
        }
        return taken;
    }
    INNER void mark(const Room &at, int instant) {
        if (first) {
            at.place[taken_a++] = instant;
        } else {
            last_b = instant;
        }
    }
    INNER int reach(const Room &at) const { return latest < 2 ? -1 : lower(at.place[latest / 2 - 1], last_b); }
};

// ---- the cheapest cover ------------------------------------------------------------------------------------------

INNER double price(int duration, int sides) { return double(duration) * sides; }

// Starts of runs in a queue, which one leaves as soon as a later one costs no more up to there: so the earliest costs
// least, the latest most. Beside each stands the box of the samples from it to the next one; from the latest one on,
// the box of those up to where starts have been let in. The last Q are close at hand, where threads that are out of step
// do not wait for each other; what falls out while it is still in the queue stands in the room.
template <int Q> struct Queue {
    Box *near_gaps;
    Start *near_starts;
    int head, tail, top;
    Start earliest, latest;
    Box pending;

    INNER void begin() { head = tail = 0, top = -1, pending = nothing(); }
    INNER bool empty() const { return head == tail; }
    INNER bool near(int place) const { return place > top - Q; }
    INNER Start start(const Room &room, int place) const {
        return near(place) ? near_starts[place % Q * LANES] : room.starts[place];
    }
    INNER Box gap(const Room &room, int place) const {
        return near(place) ? near_gaps[place % Q * LANES] : room.gaps[place];
    }
    INNER void leave_latest(const Room &room) {
        tail--;
        if (empty()) return;
        latest = start(room, tail - 1);
        pending.add(gap(room, tail - 1));
    }
    INNER void leave_earliest(const Room &room) {
        head++;
        if (!empty()) earliest = start(room, head);
    }
    INNER void enter(const Room &room, const Start &made) {
        if (!empty()) {
            if (near(tail - 1)) {
                near_gaps[(tail - 1) % Q * LANES] = pending;
            } else {
                room.gaps[tail - 1] = pending;
            }
        }
        if (tail > top) {
            int out = tail - Q;
            if (out >= head) {
                room.starts[out] = near_starts[out % Q * LANES];
                room.gaps[out] = near_gaps[out % Q * LANES];
            }
            top = tail;
        }
        if (near(tail)) {
            near_starts[tail % Q * LANES] = made;
        } else {
            room.starts[tail] = made;
        }
        if (empty()) earliest = made;
        tail++;
        latest = made, pending = nothing();
    }
};

#define QUEUE(Q)                                                                                                       \
    SHARED Box near_gaps[Q * LANES];                                                                                   \
    SHARED Start near_starts[Q * LANES];                                                                               \
    Queue<Q> queue;                                                                                                    \
    queue.near_gaps = near_gaps + THREAD % LANES, queue.near_starts = near_starts + THREAD % LANES

// Lays samples in the room and returns the cost of their cheapest cover by runs. Of equally cheap runs to a boundary
// the shortest is taken.
template <bool BACKS, bool OWNS, int Q, class Source>
INNER double cover(Source &from, Queue<Q> &queue, const Room &at) {
    int n = from.size(), enters = 0, known = -1, instant = 0, now = 0, own = 0, divided = 0, divisible = -1;
    // Samples of the latest start's run: up to `middle` noted from each on, after it together.
    int middle = 0;
    Box early = nothing(), late = nothing();
    double best = 0.0;
    queue.begin();
    at.cost[0] = 0.0;
    if (BACKS || OWNS) at.held[0] = 0;
    if (OWNS) at.own[0] = 0.0;
    for (int j = 1; j <= n; j++) {
        Sample taken = from.take();
        if (j == 1 || taken.t != now) instant = j - 1;
        now = taken.t;
        from.mark(at, instant);
        late.add(taken.x, taken.y);
        if (BACKS || OWNS) at.held[j] = own += from.own();
        int p = j < n && from.time() == now ? -1 : from.reach(at);
        taken.reach = p;
        at.samples[j - 1] = taken;
        best = INFINITE;
        if (p >= 0) {
            for (; enters <= p; enters++) {
                Start made = {enters, 0, at.cost[enters]};
                Sample next = at.samples[enters];
                if (made.cost < INFINITE) {
                    made.t = next.t;
                    while (!queue.empty() && queue.latest.cost >= made.cost) queue.leave_latest(at);
                    queue.enter(at, made);
                }
                queue.pending.add(next.x, next.y);
            }
            // From starts up to here a run is divisible.
            if (p != divided) divided = p, divisible = at.samples[p - 1].reach;
            while (!queue.empty() && queue.earliest.at <= divisible) queue.leave_earliest(at);
        }
        if (p >= 0 && !queue.empty()) {
            Start run = queue.latest;
            if (run.at >= middle) {
                early = nothing();
                for (int e = j - 1; e >= run.at; e--) {
                    Sample one = at.samples[e];
                    early.add(one.x, one.y);
                    at.suffix[e] = early;
                }
                middle = j, late = nothing();
            } else if (run.at != known) {
                early = at.suffix[run.at];
            }
            known = run.at;
            Box box = early;
            box.add(late);
            int q = queue.tail - 1, start = -1;
            double paid = 0.0;
            while (true) {
                double each = price(now + 1 - run.t, box.sides()), whole = double(j - run.at) * each;
                if (run.cost + whole < best) best = run.cost + whole, start = run.at, paid = each;
                q--;
                if (q < queue.head || queue.earliest.cost + whole >= best) break;
                run = queue.start(at, q);
                box.add(queue.gap(at, q));
            }
            if (BACKS) at.back[j] = start;
            if (OWNS) at.own[j] = at.own[start] + double(own - at.held[start]) * paid;
        }
        at.cost[j] = best;
    }
    return best;
}

// What each pair costs in all (how = 0), or a sample: by the inverse of their number (1), or over it (2).
KERNEL pair_costs(const Sample *samples, const wide *begin, const int *length, const wide *first,
                  const int *second, wide each, wide n, wide how, wide entries, Box *fours, double *doubles, int *ints,
                  double *costs) {
    Samples of = {samples, begin, length};
    Room at = room_of(fours, doubles, ints, alike(entries), PLAIN);
    QUEUE(8);
    for (wide task = THREAD; task < n; task += THREADS) {
        Pair both;
        both.lay(of, first[task / each], second[task]);
        int size = both.size();
        double total = cover<false, false>(both, queue, at);
        costs[task] = how == 0 ? total : how == 1 ? total * (1.0 / size) : total / size;
    }
}

// Lays lists: of each picker and all it picked.
KERNEL lay_picked(const Sample *samples, const wide *begin, const int *length, const wide *last,
                  const wide *before, const wide *picked, const wide *pickers, const wide *slots, wide n,
                  wide members, int *heads, wide *places, const wide *rows, Sample *lists) {
    if (THREAD >= n) return;
    Samples of = {samples, begin, length};
    wide slot = slots[THREAD];
    Crowd all;
    all.begin(of, places, heads, members);
    all.add(pickers[slot]);
    for (wide pick = last[pickers[slot]]; pick >= 0; pick = before[pick]) all.add(picked[pick]);
    write_list(all, lists + rows[slot]);
}

// Lays lists: of the members of each set.
KERNEL lay_sets(const Sample *samples, const wide *begin, const int *length,
                const wide *set_offsets, const wide *members_of, const wide *slots, wide n, wide members, int *heads,
                wide *places, const wide *rows, Sample *lists) {
    if (THREAD >= n) return;
    Samples of = {samples, begin, length};
    wide slot = slots[THREAD];
    Crowd all;
    all.begin(of, places, heads, members);
    for (wide m = set_offsets[slot]; m < set_offsets[slot + 1]; m++) all.add(members_of[m]);
    write_list(all, lists + rows[slot]);
}

// What the own samples of the first person of a list cost, merged with all of the list and one more (-1: none).
KERNEL costs_of_picking(const Sample *samples, const wide *begin, const int *length,
                        const wide *rows, const Sample *lists, const wide *tasks, wide n,
                        const wide *bounds, Box *fours, double *doubles, int *ints, const wide *slots, const wide *also,
                        double *costs) {
    if (THREAD >= n) return;
    Samples of = {samples, begin, length};
    Room at = room_of(fours, doubles, ints, between(bounds), OWNED);
    QUEUE(16);
    wide task = tasks[THREAD], slot = slots[task];
    Joined all;
    all.lay(lists, rows[slot], rows[slot + 1], of, also[task]);
    int size = all.size();
    cover<false, true>(all, queue, at);
    costs[task] = at.own[size];
}

// Merges each list: total costs, boxes by time from row `firsts` on, how many there are, and the box, counted from
// there, of each of the first person's samples.
KERNEL merge_lists(const wide *rows, const Sample *lists, const wide *tasks, wide n,
                   const wide *bounds, Box *fours, double *doubles, int *ints,
                   const wide *firsts, int *boxes, wide most_rows, int *box_of, int *many, double *costs) {
    if (THREAD >= n) return;
    Room at = room_of(fours, doubles, ints, between(bounds), BACKED);
    QUEUE(16);
    wide slot = tasks[THREAD], first = firsts[slot];
    Laid all;
    all.lay(lists, rows[slot], rows[slot + 1]);
    int size = all.size(), runs = 0;
    costs[slot] = cover<true, false>(all, queue, at);
    for (int j = size; j > 0; j = at.back[j]) runs++;
    many[slot] = runs;
    wide row = first + runs;
    for (int j = size; j > 0;) {
        int i = at.back[j];
        Box box = nothing();
        for (int e = i; e < j; e++) box.add(at.samples[e].x, at.samples[e].y);
        row--;
        int sides[6] = {at.samples[i].t, at.samples[j - 1].t + 1, box.x0, box.x1 + 1, box.y0, box.y1 + 1};
        for (int side = 0; side < 6; side++) boxes[side * most_rows + row] = sides[side];
        for (int s = at.held[i]; s < at.held[j]; s++) box_of[first + s] = int(row - first);
        j = i;
    }
}

// ---- the least of many ---------------------------------------------------------------------------------------------

// The least entries so far, the worst on top; ties by row.
struct Heap {
    Column<double> keys;
    Column<int> rows;
    int size, held;

    INNER static bool before(double key, int row, double key2, int row2) {
        return key < key2 || (key == key2 && row < row2);
    }
    INNER double worst() const { return held == size ? keys[0] : INFINITE; }
    INNER void sink(int bottom, double key, int row) {
        int at = 0;
        while (2 * at + 1 < bottom) {
            int below = 2 * at + 1;
            if (below + 1 < bottom && before(keys[below], rows[below], keys[below + 1], rows[below + 1])) below++;
            if (!before(key, row, keys[below], rows[below])) break;
            keys[at] = keys[below], rows[at] = rows[below];
            at = below;
        }
        keys[at] = key, rows[at] = row;
    }
    INNER void keep(double key, int row) {
        if (held < size) {
            int at = held++;
            while (at > 0) {
                int above = (at - 1) / 2;
                if (!before(keys[above], rows[above], key, row)) break;
                keys[at] = keys[above], rows[at] = rows[above];
                at = above;
            }
            keys[at] = key, rows[at] = row;
        } else if (before(key, row, keys[0], rows[0])) {
            sink(size, key, row);
        }
    }
    // Puts the least first; it is no heap any more then.
    INNER void sort() {
        for (int bottom = held - 1; bottom > 0; bottom--) {
            double key = keys[bottom];
            int row = rows[bottom];
            keys[bottom] = keys[0], rows[bottom] = rows[0];
            sink(bottom, key, row);
        }
    }
};

// The least keys of each line and their rows, least first, ties by row.
KERNEL least_of(const double *keys, const int *rows, wide lines, wide width, wide many, double *doubles, int *ints,
                double *least_keys, int *least_rows) {
    Heap heap = {column(doubles, alike(many), 1, 0), column(ints, alike(many), 1, 0), int(many), 0};
    for (wide line = THREAD; line < lines; line += THREADS) {
        heap.held = 0;
        for (wide at = line * width; at < (line + 1) * width; at++) heap.keep(keys[at], rows[at]);
        heap.sort();
        for (int at = 0; at < many; at++) {
            least_keys[line * many + at] = heap.keys[at], least_rows[line * many + at] = heap.rows[at];
        }
    }
}

// ---- nearest squares -------------------------------------------------------------------------------------------------

INNER double unlike(double common, double areas) { return (areas - 2.0 * common) / (areas + 2.0 * common); }

INNER double proxy(double x, double y, double half, double x2, double y2, double half2) {
    double dx = apart(x, x2), dy = apart(y, y2), reach = half + half2;
    if (dx >= reach || dy >= reach) return 1.0 + dx + dy;
    double side = 2.0 * least(half, half2);
    double common = least(side, reach - dx) * least(side, reach - dy);
    return unlike(common, 4.0 * (half * half + half2 * half2));
}

INNER double proxy_floor(double x, double y, double half, const double *extent) {
    double dx = most(0.0, most(extent[0] - x, x - extent[1])), dy = most(0.0, most(extent[2] - y, y - extent[3]));
    double low = extent[4], high = extent[5], reach = half + high;
    if (dx >= reach || dy >= reach) return 1.0 + dx + dy;
    double side = 2.0 * least(half, high);
    double common = least(side, reach - dx) * least(side, reach - dy), areas = half * half + low * low;
    double by_place = unlike(least(common, 2.0 * areas), 4.0 * areas);
    double near = least(most(half, low), high), inner = least(half, near);
    return most(by_place, unlike(4.0 * inner * inner, 4.0 * (half * half + near * near)));
}

// The nearest other squares of people, in no order; ties by row. People come in the order of the tree, from `start`.
KERNEL nearest(const double *x, const double *y, const double *half, const wide *order, const wide *nodes,
               const double *extent, wide n_nodes, wide start, wide n, wide many, double *doubles, int *ints,
               int *found) {
    Heap heap = {column(doubles, alike(many), 1, 0), column(ints, alike(many), 1, 0), int(many), 0};
    int stack[DEEPEST];
    double floors[DEEPEST];
    for (wide task = THREAD; task < n; task += THREADS) {
        wide i = order[start + task];
        int top = 1;
        heap.held = 0, stack[0] = 0, floors[0] = 0.0;
        while (top > 0) {
            top--;
            wide v = stack[top];
            if (floors[top] > heap.worst()) continue;
            if (2 * v + 2 < n_nodes) {
                double a = proxy_floor(x[i], y[i], half[i], extent + 6 * (2 * v + 1));
                double b = proxy_floor(x[i], y[i], half[i], extent + 6 * (2 * v + 2));
                // The nearer child is looked at first: it lies on top of the stack.
                bool left = a <= b;
                stack[top] = int(2 * v + (left ? 2 : 1)), floors[top] = most(a, b);
                stack[top + 1] = int(2 * v + (left ? 1 : 2)), floors[top + 1] = least(a, b);
                top += 2;
                continue;
            }
            for (wide at = nodes[2 * v]; at < nodes[2 * v + 1]; at++) {
                wide r = order[at];
                if (r != i) heap.keep(proxy(x[i], y[i], half[i], x[r], y[r], half[r]), int(r));
            }
        }
        for (int at = 0; at < many; at++) found[task * many + at] = heap.rows[at];
    }
}
