// The map of a series: the light map, and the period that it shows.

import { openAtlas } from "../map/atlas";
import { embedded } from "../map/payload";
import { Series, type SeriesPayload } from "./series";

new Series(openAtlas(embedded<SeriesPayload>()), embedded<SeriesPayload>());
