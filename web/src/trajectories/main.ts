// The map of trajectories; what it shows can be asked for from outside, as `timeMap`.

import { embedded } from "../map/payload";
import { type TrajectoryPayload } from "./boxes";
import { TimeMap } from "./time_map";

Object.assign(window, { timeMap: new TimeMap(embedded<TrajectoryPayload>()) });
