// Loops of k-merge and k-scale for a GPU: one thread a task, or lanes that share one. Compiled as plain C++ the same source
// does the same on a host, one thread after the other, and tests hold that to the compiled loops in merging.py, kscale.py.
//
// As there, boundary b lies after the first b samples in order of time, so that a run (i, j] holds samples i to j - 1.
// A person's samples stand at begin[person], as many as length[person]. Numbers must be those of the host to the last
// bit, so products and sums are not contracted (--fmad=false, -ffp-contract=off).

typedef long long wide;

#ifdef __CUDACC__
#define KERNEL extern "C" __global__ void
#define INNER __device__ __forceinline__
#define THREAD (wide(blockIdx.x) * blockDim.x + threadIdx.x)
#define THREADS (wide(gridDim.x) * blockDim.x)
#else
#define KERNEL extern "C" void
#define INNER inline
static wide host_thread = 0, host_threads = 1;
KERNEL be_thread(wide thread, wide threads) { host_thread = thread, host_threads = threads; }
#define THREAD host_thread
#define THREADS host_threads
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

// ---- samples and boxes ---------------------------------------------------------------------------------------------

struct alignas(16) Sample {
    int t, x, y;
    // Of a list: see Crowd.
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

// ---- lanes that share a task ---------------------------------------------------------------------------------------
//
// As many as divide LANES; all LANES go in step. A host has one at a time.

// The cheapest run so far, the shortest of equals; and what one of its samples costs, known to the lane whose it is.
struct Run {
    double cost, paid;
    int start, mine;

    INNER bool beaten(double other, int from) const { return other < cost || (other == cost && from > start); }
    INNER void take(double other, double each, int from) {
        if (beaten(other, from)) cost = other, paid = each, start = mine = from;
    }
    INNER bool known_here() const { return mine >= 0 && mine == start; }
};

INNER Run no_run() {
    Run made = {INFINITE, 0.0, -1, -1};
    return made;
}

// Whose sample is next and when, the first of equals; and the least of their marks.
struct Turn {
    int time, member, mark;

    INNER void look(int other_time, int other, int other_mark) {
        if (other_time < time || (other_time == time && other < member)) time = other_time, member = other;
        mark = lower(mark, other_mark);
    }
};

#ifdef __CUDACC__
#define ALL 0xffffffffu
#define SHARING(L) L
extern __shared__ __align__(16) char near_memory[];

INNER void meet() { __syncwarp(); }
// The most steps of the tasks that go in step.
template <int L> INNER int together(int steps) {
    for (int by = LANES / 2; L < LANES && by > 0; by /= 2) steps = upper(steps, __shfl_xor_sync(ALL, steps, by));
    return steps;
}
template <int L> INNER void agree(Run &run) {
    for (int by = L / 2; by > 0; by /= 2) {
        double cost = __shfl_xor_sync(ALL, run.cost, by);
        int start = __shfl_xor_sync(ALL, run.start, by);
        if (run.beaten(cost, start)) run.cost = cost, run.start = start;
    }
}
template <int L> INNER void agree(Turn &turn) {
    for (int by = L / 2; by > 0; by /= 2) {
        int time = __shfl_xor_sync(ALL, turn.time, by), member = __shfl_xor_sync(ALL, turn.member, by);
        turn.look(time, member, __shfl_xor_sync(ALL, turn.mark, by));
    }
}
// Adds to each lane's box those of the lanes before it.
template <int L> INNER void add_up(Box &box) {
    int lane = THREAD % L;
    for (int by = 1; by < L; by *= 2) {
        Box other = {__shfl_up_sync(ALL, box.x0, by), __shfl_up_sync(ALL, box.x1, by),
                     __shfl_up_sync(ALL, box.y0, by), __shfl_up_sync(ALL, box.y1, by)};
        if (lane >= by) box.add(other);
    }
}
template <int L> INNER double of_last(double one) { return __shfl_sync(ALL, one, L - 1); }
template <int L> INNER Box of_last(const Box &box) {
    Box made = {__shfl_sync(ALL, box.x0, L - 1), __shfl_sync(ALL, box.x1, L - 1), __shfl_sync(ALL, box.y0, L - 1),
                __shfl_sync(ALL, box.y1, L - 1)};
    return made;
}
#else
#define SHARING(L) 1
alignas(16) static char near_memory[1 << 18];

INNER void meet() {}
template <int L> INNER int together(int steps) { return steps; }
template <int L> INNER void agree(Run &) {}
template <int L> INNER void agree(Turn &) {}
template <int L> INNER void add_up(Box &) {}
template <int L> INNER double of_last(double one) { return one; }
template <int L> INNER Box of_last(const Box &box) { return box; }
#endif

// What a thread by itself notes on its way stands in columns that it shares with the other lanes of its group: entry e of
// a lane is at e * LANES + lane, so that lanes in step touch neighbouring words.
template <class T, int STRIDE = LANES> struct Column {
    T *first;
    INNER T &operator[](wide entry) const { return first[entry * STRIDE]; }
};

// Where the columns of a thread begin, of which each group of lanes has so many entries.
INNER wide of_thread(wide entries) { return THREAD / LANES * entries * LANES + THREAD % LANES; }

// ---- what is known at the latest boundaries -------------------------------------------------------------------------

// Boundary b stands where b - size did. Sizes are powers of two.
template <class T> struct Ring {
    T *first;
    int mask;
    INNER T &operator[](wide entry) const { return first[entry & mask]; }
};

// When the sample after a boundary is, the latest start of a run to it, and what is spent up to there.
struct alignas(16) Bound {
    int t, reach;
    double cost;
};

// What is spent up to a boundary on the first person's samples, and how many of them there are.
struct alignas(16) Spent {
    double own;
    int held;
};

// Beside a boundary, the box of all samples since. At `place` stands where the instant of each sample of a list begins.
struct Rings {
    Ring<Box> boxes;
    Ring<Bound> bounds;
    Ring<Spent> spent;
    Ring<int> place;
};

#define PLAIN_BYTES (sizeof(Box) + sizeof(Bound))
#define OWNED_BYTES (PLAIN_BYTES + sizeof(Spent) + sizeof(int))

INNER Rings rings_in(char *room, wide size) {
    int mask = int(size) - 1;
    Box *boxes = reinterpret_cast<Box *>(room);
    Bound *bounds = reinterpret_cast<Bound *>(boxes + size);
    Spent *spent = reinterpret_cast<Spent *>(bounds + size);
    Rings made = {{boxes, mask}, {bounds, mask}, {spent, mask}, {reinterpret_cast<int *>(spent + size), mask}};
    return made;
}

template <int L> INNER Rings near_rings(wide size, wide bytes) {
    return rings_in(near_memory + (THREAD % LANES) / L * size * bytes, size);
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
    INNER void mark(const Ring<int> &, int instant) { first ? last_a = instant : last_b = instant; }
    INNER int reach(const Ring<int> &) const { return lower(last_a, last_b); }
};

// Any number of people, where who comes next is found by a look at all of them, each lane at its own ones.
template <int L> struct Crowd {
    static const int STRIDE = L == 1 ? LANES : 1;
    Samples of;
    Column<wide, STRIDE> at, end;
    Column<int, STRIDE> times, last;
    int members, total, lane;
    Turn next;

    INNER void begin(const Samples &samples, wide *wides, int *ints, wide most_members) {
        wide first = L == 1 ? of_thread(2 * most_members) : THREAD / SHARING(L) * 2 * most_members;
        of = samples;
        at.first = wides + first, end.first = at.first + STRIDE * most_members;
        times.first = ints + first, last.first = times.first + STRIDE * most_members;
        members = total = 0, lane = int(THREAD % SHARING(L));
    }
    INNER void add(wide person) {
        wide first = of.begin[person];
        if (members % SHARING(L) == lane) {
            at[members] = first, end[members] = first + of.length[person];
            times[members] = read(of.at, first).t, last[members] = -1;
        }
        total += of.length[person];
        members++;
    }
    INNER void look() {
        Turn found = {NEVER, members, NEVER};
        for (int m = lane; m < members; m += SHARING(L)) found.look(times[m], m, last[m]);
        agree<L>(found);
        next = found;
    }
    // Lays all samples in order of time. Their `reach` is twice where the instant begins from which on there is a sample
    // of everybody, counted from 1 (0: somebody has none yet), and 1 more where they are of the first person. Whose turn
    // it is writes.
    INNER void write(Sample *list) {
        int instant = 0, now = 0;
        look();
        for (int n = 0; n < total; n++) {
            if (n == 0 || next.time != now) instant = n;
            now = next.time;
            int member = next.member;
            bool mine = member % SHARING(L) == lane;
            Sample taken = none();
            if (mine) {
                wide s = at[member];
                taken = read(of.at, s);
                at[member] = s + 1;
                times[member] = s + 1 < end[member] ? read(of.at, s + 1).t : NEVER;
                last[member] = instant;
            }
            look();
            if (mine) taken.reach = 2 * (next.mark + 1) + (member == 0), list[n] = taken;
        }
    }
};

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
    INNER void mark(const Ring<int> &, int) {}
    INNER int reach(const Ring<int> &) const { return latest / 2 - 1; }
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
    INNER void mark(const Ring<int> &place, int instant) {
        if (first) {
            place[taken_a++] = instant;
        } else {
            last_b = instant;
        }
    }
    INNER int reach(const Ring<int> &place) const {
        return latest < 2 || last_b < 0 ? -1 : lower(place[latest / 2 - 1], last_b);
    }
};

// ---- the cheapest cover ----------------------------------------------------------------------------------------------

INNER double price(int duration, int sides) { return double(duration) * sides; }

// By boundary, where the cheapest run to it begins, and how many of the first person's samples there are.
struct Back {
    int *start, *held;
};

INNER Back no_back() {
    Back made = {0, 0};
    return made;
}

// Returns the cost of the cheapest cover by runs of n samples (0: no task), or of the first person's samples in it; -1
// where the ring is too short. The starts that a run may still have are those after the latest one from which it is
// divisible; where few people are merged they are few. Lanes keep them in a ring, each its own ones; at every sample each
// lane adds it to its boxes and finds its cheapest start, and together they find the least.
template <int L, bool OWNS, bool BACKS, class Source>
INNER double cover(Source &from, int n, const Rings &at, const Back &back) {
    int lane = int(THREAD % SHARING(L)), steps = together<L>(n), size = at.boxes.mask + 1;
    int instant = 0, now = 0, own = 0, divided = 0, divisible = -1;
    double found = -1.0;
    if (n > 0 && lane == 0) {
        Bound begin = {from.time(), -1, 0.0};
        at.bounds[0] = begin, at.boxes[0] = nothing();
        if (OWNS) at.spent[0].own = 0.0, at.spent[0].held = 0;
        if (BACKS) back.held[0] = 0;
    }
    meet();
    for (int j = 1; j <= steps; j++) {
        int p = -1;
        Run run = no_run();
        if (j <= n) {
            Sample taken = from.take();
            if (j == 1 || taken.t != now) instant = j - 1;
            now = taken.t;
            from.mark(at.place, instant);
            if (OWNS || BACKS) own += from.own();
            p = j < n && from.time() == now ? -1 : from.reach(at.place);
            // From boundaries up to here a run is divisible.
            if (p > divided) divided = p, divisible = at.bounds[p].reach;
            int earliest = divisible + 1;
            for (int i = earliest + ((lane - earliest) & (SHARING(L) - 1)); i < j; i += SHARING(L)) {
                Box box = at.boxes[i];
                box.add(taken.x, taken.y);
                at.boxes[i] = box;
                if (i > p) continue;
                Bound bound = at.bounds[i];
                double each = price(now + 1 - bound.t, box.sides());
                if (bound.cost < INFINITE) run.take(bound.cost + double(j - i) * each, each, i);
            }
        }
        agree<L>(run);
        if (j <= n) {
            if ((j & (SHARING(L) - 1)) == lane) {
                Bound made = {from.time(), p, run.cost};
                at.bounds[j] = made, at.boxes[j] = nothing();
                if (OWNS) at.spent[j].held = own;
                if (BACKS) back.start[j] = run.start, back.held[j] = own;
            }
            if (OWNS && run.known_here()) {
                Spent before = at.spent[run.start];
                at.spent[j].own = before.own + double(own - before.held) * run.paid;
            }
            if (j == n) found = run.cost;
            if (j < n && j + 1 - divisible > size) n = 0;
        }
        meet();
        if (OWNS && j == n) found = at.spent[j].own;
        if (L == LANES && n == 0) break;
    }
    return found;
}

// Where a run may begin: at which boundary, when, and what is spent up to there.
struct alignas(16) Start {
    int at, t;
    double cost;
};

// What is noted at every sample and boundary of a wide merge. `samples` have the reach of the boundary after them. Starts
// stand in a queue, which one leaves as soon as a later one costs no more up to there: so the earliest costs least, the
// latest most. Beside each stands the box of the samples from it to the next one.
struct Room {
    Sample *samples;
    Box *suffix, *gaps;
    Start *starts;
    double *cost, *own;
    int *held;
    Ring<int> place;
};

// Room for one task after the other, which begin at such entries.
INNER Room room_of(char *far, wide entries, wide first) {
    Box *fours = reinterpret_cast<Box *>(far);
    double *doubles = reinterpret_cast<double *>(fours + 4 * entries);
    int *ints = reinterpret_cast<int *>(doubles + 2 * entries);
    Room made = {reinterpret_cast<Sample *>(fours) + first,
                 fours + entries + first,
                 fours + 2 * entries + first,
                 reinterpret_cast<Start *>(fours + 3 * entries) + first,
                 doubles + first,
                 doubles + entries + first,
                 ints + first,
                 {ints + entries + first, -1}};
    return made;
}

// Notes from each sample from `first` to `last` on the box of those up to the last, and returns that of all.
INNER Box note_suffixes(const Room &at, int first, int last) {
    Box after = nothing();
    for (int from = last; from >= first; from -= SHARING(LANES)) {
        int e = from - int(THREAD % SHARING(LANES));
        Box box = nothing();
        if (e >= first) box.add(at.samples[e].x, at.samples[e].y);
        add_up<LANES>(box);
        box.add(after);
        if (e >= first) at.suffix[e] = box;
        after = of_last<LANES>(box);
    }
    meet();
    return after;
}

// Finds the cheapest run to j: `all` is the box of the latest start's. Lanes look at as many starts at a time, from the
// latest on, until a run alone eats up what an earlier start could save at most.
INNER Run cheapest_run(const Room &at, int head, int tail, Box all, int j, int now) {
    Run run = no_run();
    double cheapest = at.starts[head].cost;
    for (int from = tail - 1; from >= head; from -= SHARING(LANES)) {
        int q = from - int(THREAD % SHARING(LANES));
        Start start = at.starts[upper(q, head)];
        Box box = nothing();
        if (q >= head && q < tail - 1) box = at.gaps[q];
        add_up<LANES>(box);
        box.add(all);
        double each = price(now + 1 - start.t, box.sides()), whole = double(j - start.at) * each;
        if (q >= head) run.take(start.cost + whole, each, start.at);
        agree<LANES>(run);
        if (cheapest + of_last<LANES>(whole) >= run.cost) break;
        all = of_last<LANES>(box);
    }
    return run;
}

// Does what `cover` does, for any number of people, with notes in a room. All lanes do the same, but for looks at many
// entries; what all of them note each has noted itself.
template <bool OWNS, bool BACKS, class Source>
INNER double wide_cover(Source &from, int n, const Room &at, const Back &back) {
    int head = 0, tail = 0, enters = 0, known = -1, middle = 0;
    int instant = 0, now = 0, own = 0, divided = 0, divisible = -1;
    // Samples of the latest start's run: up to `middle` noted from each on, after it together; and those from the latest
    // start to where starts have been let in.
    Box early = nothing(), late = nothing(), pending = nothing();
    Run run = no_run();
    at.cost[0] = 0.0, at.held[0] = 0, at.own[0] = 0.0;
    if (BACKS) back.held[0] = 0;
    for (int j = 1; j <= n; j++) {
        Sample taken = from.take();
        if (j == 1 || taken.t != now) instant = j - 1;
        now = taken.t;
        from.mark(at.place, instant);
        late.add(taken.x, taken.y);
        own += from.own();
        int p = j < n && from.time() == now ? -1 : from.reach(at.place);
        taken.reach = p;
        at.samples[j - 1] = taken;
        run = no_run();
        if (p >= 0) {
            for (; enters <= p; enters++) {
                Start made = {enters, 0, at.cost[enters]};
                Sample next = at.samples[enters];
                if (made.cost < INFINITE) {
                    made.t = next.t;
                    while (tail > head && at.starts[tail - 1].cost >= made.cost) {
                        tail--;
                        if (tail > head) pending.add(at.gaps[tail - 1]);
                    }
                    if (tail > head) at.gaps[tail - 1] = pending;
                    at.starts[tail++] = made;
                    pending = nothing();
                }
                pending.add(next.x, next.y);
            }
            // From starts up to here a run is divisible.
            if (p != divided) divided = p, divisible = at.samples[p - 1].reach;
            while (head < tail && at.starts[head].at <= divisible) head++;
            meet();
        }
        if (p >= 0 && head < tail) {
            int latest = at.starts[tail - 1].at;
            if (latest >= middle) {
                early = note_suffixes(at, latest, j - 1);
                middle = j, late = nothing();
            } else if (latest != known) {
                early = at.suffix[latest];
            }
            known = latest;
            Box all = early;
            all.add(late);
            run = cheapest_run(at, head, tail, all, j, now);
        }
        at.cost[j] = run.cost, at.held[j] = own;
        if (OWNS && run.known_here()) at.own[j] = at.own[run.start] + double(own - at.held[run.start]) * run.paid;
        if (BACKS) back.start[j] = run.start, back.held[j] = own;
        meet();
    }
    return OWNS ? at.own[n] : run.cost;
}

// What two people cost in all (how = 0), or a sample: by the inverse of their number (1), or over it (2).
INNER double as_asked(double total, int size, wide how) {
    return total < 0.0 || how == 0 ? total : how == 1 ? total * (1.0 / size) : total / size;
}

// What each pair costs; -1 where the ring is too short.
KERNEL pair_costs(const Sample *samples, const wide *begin, const int *length, const wide *first, const int *second,
                  wide each, wide how, wide n, wide ring, double *costs) {
    Samples of = {samples, begin, length};
    wide nth = THREAD / SHARING(8), task = nth < n ? nth : 0;
    Pair both;
    both.lay(of, first[task / each], second[task]);
    int size = both.size();
    double total = cover<8, false, false>(both, nth < n ? size : 0, near_rings<8>(ring, PLAIN_BYTES), no_back());
    if (nth < n && THREAD % SHARING(8) == 0) costs[task] = as_asked(total, size, how);
}

// What each of these pairs costs. Rooms of tasks begin at `bounds`, and have so many entries in all.
KERNEL wide_pair_costs(const Sample *samples, const wide *begin, const int *length, const wide *first,
                       const int *second, wide each, wide how, const wide *tasks, wide n, const wide *bounds,
                       wide entries, char *far, double *costs) {
    wide nth = THREAD / SHARING(LANES);
    if (nth >= n) return;
    Samples of = {samples, begin, length};
    wide task = tasks[nth];
    Pair both;
    both.lay(of, first[task / each], second[task]);
    int size = both.size();
    double total = wide_cover<false, false>(both, size, room_of(far, entries, bounds[nth]), no_back());
    if (THREAD % SHARING(LANES) == 0) costs[task] = as_asked(total, size, how);
}

// Lays lists: of each picker and all it picked.
#define LAY_PICKED(L)                                                                                                  \
    KERNEL lay_picked_##L(const Sample *samples, const wide *begin, const int *length, const wide *last,               \
                          const wide *before, const wide *picked, const wide *pickers, const wide *slots, wide n,      \
                          wide members, int *heads, wide *places, const wide *rows, Sample *lists) {                   \
        if (THREAD / SHARING(L) >= n) return;                                                                          \
        Samples of = {samples, begin, length};                                                                         \
        wide slot = slots[THREAD / SHARING(L)];                                                                        \
        Crowd<L> all;                                                                                                  \
        all.begin(of, places, heads, members);                                                                         \
        all.add(pickers[slot]);                                                                                        \
        for (wide pick = last[pickers[slot]]; pick >= 0; pick = before[pick]) all.add(picked[pick]);                   \
        all.write(lists + rows[slot]);                                                                                 \
    }
LAY_PICKED(1)
LAY_PICKED(32)

// Lays lists: of the members of each set.
#define LAY_SETS(L)                                                                                                    \
    KERNEL lay_sets_##L(const Sample *samples, const wide *begin, const int *length, const wide *set_offsets,          \
                        const wide *members_of, const wide *slots, wide n, wide members, int *heads, wide *places,     \
                        const wide *rows, Sample *lists) {                                                             \
        if (THREAD / SHARING(L) >= n) return;                                                                          \
        Samples of = {samples, begin, length};                                                                         \
        wide slot = slots[THREAD / SHARING(L)];                                                                        \
        Crowd<L> all;                                                                                                  \
        all.begin(of, places, heads, members);                                                                         \
        for (wide m = set_offsets[slot]; m < set_offsets[slot + 1]; m++) all.add(members_of[m]);                       \
        all.write(lists + rows[slot]);                                                                                 \
    }
LAY_SETS(1)
LAY_SETS(32)

// What the own samples of the first person of a list cost, merged with all of the list and one more (-1: none); -1 where
// the ring is too short.
KERNEL costs_of_picking(const Sample *samples, const wide *begin, const int *length, const wide *rows,
                        const Sample *lists, const wide *slots, const wide *also, const wide *tasks, wide n, wide ring,
                        double *costs) {
    Samples of = {samples, begin, length};
    wide nth = THREAD / SHARING(LANES), task = tasks[nth < n ? nth : 0], slot = slots[task];
    Joined all;
    all.lay(lists, rows[slot], rows[slot + 1], of, also[task]);
    Rings at = near_rings<LANES>(ring, OWNED_BYTES);
    double own = cover<LANES, true, false>(all, nth < n ? all.size() : 0, at, no_back());
    if (nth < n && THREAD % SHARING(LANES) == 0) costs[task] = own;
}

KERNEL wide_costs_of_picking(const Sample *samples, const wide *begin, const int *length, const wide *rows,
                             const Sample *lists, const wide *slots, const wide *also, const wide *tasks, wide n,
                             const wide *bounds, wide entries, char *far, double *costs) {
    wide nth = THREAD / SHARING(LANES);
    if (nth >= n) return;
    Samples of = {samples, begin, length};
    wide task = tasks[nth], slot = slots[task];
    Joined all;
    all.lay(lists, rows[slot], rows[slot + 1], of, also[task]);
    double own = wide_cover<true, false>(all, all.size(), room_of(far, entries, bounds[nth]), no_back());
    if (THREAD % SHARING(LANES) == 0) costs[task] = own;
}

// Writes the boxes of a list's runs by time from row `first` on, and the box, counted from there, of each of the first
// person's samples; returns how many there are.
INNER int write_boxes(const Sample *list, int size, const Back &back, wide first, int *boxes, wide most_rows,
                      int *box_of) {
    int runs = 0;
    for (int j = size; j > 0; j = back.start[j]) runs++;
    int row = runs;
    for (int j = size; j > 0;) {
        int i = back.start[j];
        Box box = nothing();
        for (int e = i; e < j; e++) box.add(list[e].x, list[e].y);
        row--;
        int sides[6] = {list[i].t, list[j - 1].t + 1, box.x0, box.x1 + 1, box.y0, box.y1 + 1};
        for (int side = 0; side < 6; side++) boxes[side * most_rows + first + row] = sides[side];
        for (int s = back.held[i]; s < back.held[j]; s++) box_of[first + s] = row;
        j = i;
    }
    return runs;
}

// Merges each list: total costs (-1: the ring is too short), boxes from row `firsts` on, and how many there are.
KERNEL merge_lists(const wide *rows, const Sample *lists, int *starts, int *held, const wide *firsts, int *boxes,
                   wide most_rows, int *box_of, int *many, const wide *tasks, wide n, wide ring, double *costs) {
    wide nth = THREAD / SHARING(LANES), slot = tasks[nth < n ? nth : 0], row = rows[slot];
    Laid all;
    all.lay(lists, row, rows[slot + 1]);
    int size = all.size();
    Back back = {starts + row + slot, held + row + slot};
    double cost = cover<LANES, false, true>(all, nth < n ? size : 0, near_rings<LANES>(ring, PLAIN_BYTES), back);
    if (nth >= n || THREAD % SHARING(LANES)) return;
    costs[slot] = cost;
    if (cost >= 0.0) many[slot] = write_boxes(lists + row, size, back, firsts[slot], boxes, most_rows, box_of);
}

KERNEL wide_merge_lists(const wide *rows, const Sample *lists, int *starts, int *held, const wide *firsts, int *boxes,
                        wide most_rows, int *box_of, int *many, const wide *tasks, wide n, const wide *bounds,
                        wide entries, char *far, double *costs) {
    wide nth = THREAD / SHARING(LANES);
    if (nth >= n) return;
    wide slot = tasks[nth], row = rows[slot];
    Laid all;
    all.lay(lists, row, rows[slot + 1]);
    int size = all.size();
    Back back = {starts + row + slot, held + row + slot};
    double cost = wide_cover<false, true>(all, size, room_of(far, entries, bounds[nth]), back);
    if (THREAD % SHARING(LANES)) return;
    costs[slot] = cost;
    many[slot] = write_boxes(lists + row, size, back, firsts[slot], boxes, most_rows, box_of);
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
    Heap heap = {{doubles + of_thread(many)}, {ints + of_thread(many)}, int(many), 0};
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
    Heap heap = {{doubles + of_thread(many)}, {ints + of_thread(many)}, int(many), 0};
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
