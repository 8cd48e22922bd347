// The light map that every release carries.

import { openAtlas } from "./atlas";
import { type Payload, embedded } from "./payload";

openAtlas(embedded<Payload>());
