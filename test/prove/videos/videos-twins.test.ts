import { program } from './videos-twins.ts'
import { short } from '../short.ts'

await short('videos-twins', program)
