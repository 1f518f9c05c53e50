import { short } from '../../short.ts'
import { program } from './forms-round-trip.ts'

await short('forms-round-trip', program)
