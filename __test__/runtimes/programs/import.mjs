// By `import`.

import * as cursor from "fusion-cursor-native";
import * as testing from "fusion-cursor-native/testing";
import { play } from "./parts.mjs";

void play(cursor, testing);
