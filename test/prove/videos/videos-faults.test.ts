import { short } from '../short.ts'
import { program } from './videos-faults.ts'

await short('videos-faults', program)
